import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, MAIN } from './workshop.ts';

const office = createWorkshop(OFFICE);
afterAll(office.remove);

async function names(...flags: string[]): Promise<readonly string[]> {
  const { tools } = (await office.json(['list', ...flags])) as { tools: { name: string }[] }; // as docs/cli.md says
  return tools.map((tool) => tool.name);
}

describe('toolcrib list', () => {
  it('shows all tools to the operator, also those that a profile hides', async () => {
    const { code, stdout } = await office.run(['list']);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'NAME',
      'add',
      'echo',
      'fail',
      'wait',
      'wipe',
      '',
    ]);
  });

  it('shows the tools of a profile', async () => {
    expect(await names('--profile', 'reader')).toEqual(['add', 'echo']);
  });

  it.each([
    [['--tag', 'math', '--tag', 'read'], ['add']],
    [['--category', 'math'], ['add']],
    [
      ['--pattern', 'w*'],
      ['wait', 'wipe'],
    ],
    [['--kind', 'function', '--pattern', '?dd'], ['add']],
    [['--source', 'nobody'], []],
    [
      ['--bundle', 'reading'],
      ['add', 'echo'],
    ],
    [['--flag', 'destructive'], ['wipe']],
    [['--flag', 'quick', '--flag', 'readOnly=true'], ['add']],
    [['--flag', 'beta'], []],
  ])('filters by %j', async (flags, expected) => {
    expect(await names(...flags)).toEqual(expected);
  });

  it('answers an invalid filter with the nearest known one', async () => {
    const { code, stderr } = await office.run(['list', '--flag', 'readonly']);
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean "readOnly"?');
  });

  it('prints definitions in a vendor format, without how a tool runs', async () => {
    const { stdout } = await office.run(['list', '--pattern', 'add', '--format', 'openai']);
    expect(JSON.parse(stdout)).toMatchObject([{ type: 'function', function: { name: 'add' } }]);
    expect(stdout).not.toContain('office.mjs');
  });

  it('estimates tokens, and counts them on request', async () => {
    const estimated = await office.run(['list', '--pattern', 'add']);
    const counted = await office.run(['list', '--pattern', 'add', '--tokens']);
    expect(estimated.stdout).toMatch(/ ~\d+ /);
    expect(counted.stdout).toMatch(/ \d+ /);
    expect(counted.stdout).not.toContain('~');
  });

  it('ends quietly when the reader closes the pipe', () => {
    const { stderr } = spawnSync('sh', ['-c', '"$0" "$1" list --json | true', process.execPath, MAIN], {
      cwd: office.folder,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
  });
});

describe('toolcrib show', () => {
  it('prints everything that an operator may know about a tool', async () => {
    const { code, stdout } = await office.run(['show', 'add']);
    expect(code).toBe(0);
    for (const part of ['Add two numbers', 'office', 'reading', '"type": "number"', '"openai":'])
      expect(stdout).toContain(part);
  });

  it('names the nearest tool for an unknown name', async () => {
    expect(await office.run(['show', 'ad'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: The tool "ad" was not found. Did you mean "add"?\n',
    });
  });

  it('does not reveal a tool that the profile hides', async () => {
    const { code, stderr } = await office.run(['show', 'wipe', '--profile', 'reader']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: The tool "wipe" was not found.\n' });
  });
});

describe('toolcrib explain', () => {
  it('refuses a name that no tool can have', async () => {
    const { code, stdout, stderr } = await office.run(['explain', 'a\u0001dd']);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: The tool "a\\u0001dd" was not found.\n',
    });
  });

  it('says why a tool is not visible', async () => {
    const { code, stdout } = await office.run(['explain', 'wipe', '--caller', 'alice', '--role', 'dev']);
    expect(code).toBe(0);
    expect(stdout).toContain('wipe is not visible in profile reader:\n  no include selector matches the tool');
  });

  it('names the layer of each limit', async () => {
    const { stdout } = await office.run(['explain', 'add']);
    expect(stdout).toMatch(/approval +"dangerous" +default/);
  });
});

describe('toolcrib explain', () => {
  it.each([
    [
      60,
      'rate: 60 calls at once (scope: caller), then one each 1000 ms, so at most 60 in the first 60000 ms from rest and 119 in any',
    ],
    [1, 'rate: one call at once (scope: caller), then one each 60000 ms'],
  ])('says how a rate of %i counts', async (amount, sentence) => {
    const rates = [{ scope: 'caller', amount, perMs: 60_000 }];
    const tools = [{ name: 'a', description: '', policy: { rates }, run: { kind: 'http', url: 'https://x.test' } }];
    const crib = createWorkshop({ 'toolcrib.yaml': JSON.stringify({ tools }) });
    onTestFinished(crib.remove);
    expect((await crib.run(['explain', 'a'])).stdout.split('\n')).toContain(sentence);
    expect(await crib.json(['explain', 'a'])).toMatchObject({ rates: [sentence.replace('rate: ', '')] });
  });
});

describe('toolcrib search', () => {
  it('ranks tools for a request', async () => {
    const { code, stdout } = await office.run(['search', 'add', 'numbers', '--limit', '1']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^SCORE.*\n\d\.\d+ +add /);
  });

  it.each(['0', '-1', 'many', '1.5'])('does not accept a limit of %s', async (limit) => {
    expect(await office.run(['search', 'add', `--limit=${limit}`])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('toolcrib bundles, profiles and sources', () => {
  it('bundles shows the active and the essential ones', async () => {
    const { stdout } = await office.run(['bundles', '--profile', 'reader']);
    expect(stdout).toMatch(/reading +essential +2 +~\d+ +Look and do not touch/);
  });

  it('profiles marks the default one and counts the tools of each', async () => {
    const { stdout } = await office.run(['profiles']);
    expect(stdout).toMatch(/reader +yes +2 +~\d+\nwriter +5 +~\d+/);
  });

  it('an unknown profile is answered with the nearest', async () => {
    const { code, stderr } = await office.run(['list', '--profile', 'raeder']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'error: The profile "raeder" was not found. Did you mean "reader"?\n',
    });
  });

  it('sources shows the state of each', async () => {
    const { stdout } = await office.run(['sources']);
    expect(stdout).toMatch(/office +ready +5 +~\d+/);
  });
});
