import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createWorkshop } from './workshop.ts';

const TOOLS = `tools:
  - { name: look, run: { kind: shell, command: [ls], sandbox: { read: [./work], network: false } } }
  - { name: greet, run: { kind: shell, command: [echo, hello] } }
`;
const crib = createWorkshop({ 'toolcrib.yaml': TOOLS, 'work/a.txt': 'A' });
afterAll(crib.remove);

/** The programs of this machine without the one that makes sandboxes. */
const bin = join(crib.folder, 'bin');
mkdirSync(bin);
for (const name of readdirSync('/usr/bin')) if (name !== 'bwrap') symlinkSync(join('/usr/bin', name), join(bin, name));
const env = { PATH: `${join(process.execPath, '..')}:${bin}` };

const REFUSED =
  '1 command cannot run, because no sandbox is available (bubblewrap (bwrap) is not installed): look. To fix it, install or repair bubblewrap, or set executors.shell.sandbox: preferred to run it without one.';
const BARE = '1 command may run without a sandbox (bubblewrap (bwrap) is not installed): greet.';

describe('on a machine without bubblewrap', () => {
  it('check counts the commands that cannot run, and names those that run unconfined', async () => {
    const { code, stdout } = await crib.run(['check', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problems: [REFUSED], notes: [BARE] });
    expect(code).toBe(1);
    const shown = (await crib.run(['check'], { env })).stdout;
    expect(shown).toContain(`Notes\n  ${BARE}`);
    expect(shown).toContain(`Problems\n  ${REFUSED}`);
  });

  it.each([[['serve', '--port', '0']], [['serve', '--stdio']]])('%j reports both at start', async (args) => {
    const server = crib.start(args, { env });
    let said = '';
    for await (const chunk of server.stderr) {
      said += String(chunk);
      if (said.includes(BARE)) break;
    }
    server.kill('SIGKILL');
    expect(said).toContain(REFUSED);
  });

  it('a call of a command that cannot run says what to do', async () => {
    const { code, stdout } = await crib.run(['call', 'look', '--json'], { env });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('set executors.shell.sandbox: preferred') },
    });
    expect((await crib.run(['call', 'greet'], { env })).stdout.trim()).toBe('hello');
  });
});
