// A crib whose modules and state are mounted a second time in a folder that a command may write. Says what became of them.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCrib } from '../../../../src/index.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-mounted-')));
for (const name of ['mods', '.toolcrib', 'work/again', 'work/state', 'work/single'])
  mkdirSync(join(folder, name), { recursive: true });
writeFileSync(join(folder, 'mods/tool.js'), 'export default [];\n');
writeFileSync(join(folder, '.toolcrib/key'), 'the key');
writeFileSync(join(folder, 'work/single/tool.js'), '');
const text =
  'echo evil > again/tool.js; echo evil > again/new.js; echo evil > single/tool.js; cat state/key; echo evil > state/new; echo new > free.txt';
const config = {
  sources: { mine: { modules: './mods' } },
  tools: [
    {
      name: 'attack',
      description: 'x',
      run: { kind: 'shell', command: ['sh', '-c', text], sandbox: { write: './work', mode: 'required' } },
    },
  ],
};
writeFileSync(join(folder, 'toolcrib.json'), JSON.stringify(config));
const bind = (from: string, to: string) => execFileSync('mount', ['--bind', join(folder, from), join(folder, to)]);
bind('mods', 'work/again');
bind('.toolcrib', 'work/state');
bind('mods/tool.js', 'work/single/tool.js');
const crib = await createCrib({ configFile: folder, store: { url: 'memory:' }, watch: false });
const answer = JSON.stringify(await (await crib.open()).call('attack', {}));
await crib.close();
const free = join(folder, 'work/free.txt');
const said = JSON.stringify({
  tool: readFileSync(join(folder, 'mods/tool.js'), 'utf8'),
  made: existsSync(join(folder, 'mods/new.js')),
  state: answer.includes('the key') || existsSync(join(folder, '.toolcrib/new')),
  free: existsSync(free) ? readFileSync(free, 'utf8') : answer,
});
for (const place of ['work/again', 'work/state', 'work/single/tool.js']) execFileSync('umount', [join(folder, place)]);
rmSync(folder, { recursive: true });
process.stdout.write(said);
