import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createWorkshop, MAIN, SURROUNDINGS } from '../cli/workshop.ts';

it.each([
  ['serves', { 'toolcrib.yaml': 'tools: []\n' }],
  ['cannot serve', { 'toolcrib.yaml': 'tolls: []\n' }],
])(
  'a client that sends a message without end is told so, and the command that %s ends as usual',
  async (what, files) => {
    const workshop = createWorkshop(files);
    onTestFinished(() => workshop.remove());
    const child = spawn(process.execPath, [MAIN, 'serve', '--stdio'], {
      cwd: workshop.folder,
      env: { ...SURROUNDINGS, HOME: workshop.folder },
    });
    child.stdin.on('error', () => {}); // it is closed before all is written
    const said = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    child.stdin.write('x'.repeat(11_000_000));
    const [answer, errors, [code]] = await said;
    expect(JSON.parse(answer)).toMatchObject({ id: null, error: { message: expect.stringContaining('larger than') } });
    expect(errors).not.toContain('unsettled');
    expect(code).toBe(what === 'serves' ? 0 : 2);
  },
);
