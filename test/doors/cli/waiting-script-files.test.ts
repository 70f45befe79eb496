import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createWorkshop } from './workshop.ts';

const TOOLS = `
import { appendFileSync } from 'node:fs';
const note = (name, effects) => ({
  name, description: 'Note ' + name, input: { type: 'object' }, effects,
  execute: ({ what }) => { appendFileSync('runs', name + ' ' + what + '\\n'); return name + ' ' + what; },
});
export const find = note('find', { readOnly: true });
export const wipe = note('wipe', { destructive: true });
`;
const office = createWorkshop({
  'toolcrib.yaml': 'sources: { office: { modules: ./tools } }\nprofiles: { default: {} }\n',
  'tools/office.mjs': TOOLS,
  'clean.js': `
const found = await tools.find({ what: input.what });
console.log('found', found);
return tools.wipe({ what: found });`,
  'twice.js': `
console.log('line 1');
await tools.wipe({ what: 'a' });
console.log('line 2');
console.log('line 3');
await tools.wipe({ what: 'b' });
console.log('line 4');
return 'done';`,
});
afterAll(office.remove);

const runs = () => {
  const log = join(office.folder, 'runs');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
};

it('toolcrib script waits without a terminal, and goes on in another process after the approval, once', async () => {
  const waiting = await office.run(['script', 'clean.js', 'what=disk']);
  const id = waiting.stdout.trim();
  expect(waiting).toMatchObject({ code: 1, stderr: expect.stringContaining('found find disk') });
  expect(waiting.stderr).toContain(`toolcrib approvals approve ${id}`);
  expect(waiting.stderr).toContain(`toolcrib script clean.js what=disk --approval ${id}`);
  expect(await office.run(['approvals', 'approve', id])).toMatchObject({ code: 0 });
  expect(runs()).toEqual(['find disk']);
  const run = ['script', 'clean.js', 'what=disk', '--approval', id];
  for (const ended of await Promise.all([office.run(run), office.run(run)])) {
    expect(ended).toMatchObject({ code: 0, stdout: 'wipe find disk\n' });
    expect(ended.stderr).not.toContain('found');
  }
  expect(runs()).toEqual(['find disk', 'wipe find disk']);
});

it('an approval counts for the script as it was', async () => {
  const id = (await office.run(['script', 'clean.js', 'what=tape'])).stdout.trim();
  const other = await office.run(['script', 'twice.js', '--approval', id]);
  expect(other).toMatchObject({ code: 1, stdout: '' });
  expect(other.stderr).toContain('is for a call inside "execute_script" with other arguments');
});

it('each console line of a script that waits is shown once, by the command that runs its part', async () => {
  const shown: string[][] = [];
  let ended = await office.run(['script', 'twice.js']);
  for (const left of [1, 0]) {
    shown.push(ended.stderr.match(/^line \d/gm) ?? []);
    const id = ended.stdout.trim();
    expect(await office.run(['approvals', 'approve', id]), `${left} left`).toMatchObject({ code: 0 });
    ended = await office.run(['script', 'twice.js', '--approval', id]);
  }
  shown.push(ended.stderr.match(/^line \d/gm) ?? []);
  expect(ended.stdout).toBe('done\n');
  expect(shown).toEqual([['line 1'], ['line 2', 'line 3'], ['line 4']]);
});
