import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

const office = createWorkshop(OFFICE);
afterAll(office.remove);

describe('toolcrib call', () => {
  it('prints the result and nothing else', async () => {
    expect(await office.run(['call', 'add', 'a=1', 'b=2'])).toEqual({ code: 0, stdout: '3\n', stderr: '' });
  });

  it('reads arguments by the types of the schema', async () => {
    const { stdout } = await office.run([
      ...['call', 'echo', 'text=5', 'count=5', 'loud=false', 'names=a', 'names=b', 'options={"deep":[1]}'],
    ]);
    expect(JSON.parse(stdout)).toEqual({ text: '5', count: 5, loud: false, names: ['a', 'b'], options: { deep: [1] } });
  });

  it('accepts arguments as JSON, also from stdin, and key=value words take precedence', async () => {
    const { stdout } = await office.run(['call', 'add', '--args', '-', 'b=3'], { input: '{ "a": 1, "b": 2 }' });
    expect(stdout).toBe('4\n');
  });

  it.each(['[1]', '5', '{', ''])('answers --args %j with a sentence', async (args) => {
    const { code, stdout, stderr } = await office.run(['call', 'add', `--args=${args}`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--args must be a JSON object');
  });

  it('exits with 1 and lists every issue if arguments are invalid', async () => {
    const { code, stdout, stderr } = await office.run(['call', 'add', 'a=x']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('/a: must be a number');
    expect(stderr).toContain('/b: is required');
  });

  it('prints progress as it was reported, or its message', async () => {
    const own = createWorkshop({
      'toolcrib.yaml': 'sources: { own: { modules: ./tools } }\n',
      'tools/t.mjs': `export const steps = { name: 'steps', description: 'x', input: { type: 'object' }, execute: (_, call) => {
        for (const one of ['begun', { progress: 1, total: 2, message: 'step 1\\u001b[2J' }, { left: 3 }]) call.report(one);
        return 'over';
      } };`,
    });
    const { stdout, stderr } = await own.run(['call', 'steps']);
    own.remove();
    expect([stdout, stderr]).toEqual(['over\n', 'begun\nstep 1\n{"left":3}\n']);
  });

  it('exits with 1 if the tool fails, without a stack', async () => {
    expect(await office.run(['call', 'fail'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: tool_error: it broke\n',
    });
  });

  it('exits with 1 for an unknown tool and names the nearest one', async () => {
    const { code, stderr } = await office.run(['call', 'ad']);
    expect(code).toBe(1);
    expect(stderr).toContain('Did you mean "add"?');
  });

  it('cannot call a tool that the profile hides', async () => {
    const { code, stderr } = await office.run(['call', 'wipe', 'what=x', '--yes', '--profile', 'reader']);
    expect(code).toBe(1);
    expect(stderr).toContain('unknown_tool');
  });

  it('says that an approval does not exist', async () => {
    const { code, stderr } = await office.run(['call', 'add', 'a=1', 'b=2', '--approval', 'x']);
    expect(code).toBe(1);
    expect(stderr).toContain('The approval "x" was not found');
  });
});

describe('approval', () => {
  it('without a terminal a call that requires approval is parked, with the next step', async () => {
    const { code, stdout, stderr } = await office.run(['call', 'wipe', 'what=x']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\S+\n$/);
    expect(stderr).toContain(`toolcrib approvals approve ${stdout.trim()}`);
  });

  it('--yes approves as the operator', async () => {
    expect(await office.run(['call', 'wipe', 'what=x', '--yes'])).toEqual({ code: 0, stdout: 'wiped x\n', stderr: '' });
  });
});

/** A bundle whose disposal never ends. */
const STUCK = `
const tool = { name: 'stay', description: '', input: { type: 'object' }, execute: (input, call) => new Promise(() => { call.report('staying'); setInterval(() => {}, 1000); }) };
export const stuck = { name: 'stuck', tools: [tool], setup: () => ({ dispose: () => new Promise(() => {}) }) };
`;

/** Runs a command and sends a signal each time one of the texts has appeared. */
async function interrupt(shop: Workshop, args: readonly string[], signal: NodeJS.Signals, texts: readonly string[]) {
  const child = shop.start(args);
  const stdout = text(child.stdout);
  const awaited = [...texts];
  let stderr = '';
  for await (const chunk of child.stderr) {
    stderr += chunk;
    if (awaited[0] !== undefined && stderr.includes(awaited[0])) {
      awaited.shift();
      child.kill(signal);
    }
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, stdout: await stdout, stderr };
}

describe('Ctrl-C', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s cancels the call', async (signal) => {
    expect(await interrupt(office, ['call', 'wait'], signal, ['waiting'])).toEqual({
      code: 130,
      stdout: '',
      stderr: 'waiting\nerror: cancelled: The call was cancelled.\n',
    });
  });

  it('a second one ends a call that does not react at once', async () => {
    const shop = createWorkshop({ 'toolcrib.yaml': 'sources: { x: { modules: ./x } }\n', 'x/stuck.mjs': STUCK });
    const { code } = await interrupt(shop, ['call', 'stay'], 'SIGINT', ['staying', 'cancelled']);
    expect(code).toBe(130);
    shop.remove();
  });
});
