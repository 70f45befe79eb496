import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist/cli/main.js');
const run = promisify(execFile);

/** A copy, so that what the tools do is done to it. */
const home = mkdtempSync(join(tmpdir(), 'toolcrib-starter-'));
const starter = join(home, 'starter');
beforeAll(() => {
  cpSync(join(ROOT, 'examples/starter'), starter, { recursive: true, filter: (path) => !path.includes('.toolcrib') });
  mkdirSync(join(home, 'node_modules'));
  symlinkSync(ROOT, join(home, 'node_modules/toolcrib'));
  for (const name of ['@modelcontextprotocol', 'zod'])
    symlinkSync(join(ROOT, 'node_modules', name), join(home, 'node_modules', name));
  // The programs of this machine without the one that makes sandboxes.
  mkdirSync(join(home, 'bin'));
  for (const name of new Set(['/usr/bin', '/bin'].flatMap((place) => readdirSync(place))))
    if (name !== 'bwrap') symlinkSync(join('/usr/bin', name), join(home, 'bin', name));
});
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

interface Ran {
  readonly code: number;
  readonly stdout: string;
}

async function toolcrib(...args: readonly string[]): Promise<Ran> {
  return toolcribOn(process.env.PATH, ...args);
}

async function toolcribOn(path: string | undefined, ...args: readonly string[]): Promise<Ran> {
  const env = { PATH: `${join(process.execPath, '..')}:${path}`, HOME: home };
  const ran = await run(process.execPath, [MAIN, ...args], { cwd: starter, env }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: Ran) => ({ code, stdout }),
  );
  return ran;
}

it('`toolcrib script` runs a file of the examples', async () => {
  const { code, stdout } = await toolcrib('script', 'scripts/towns.js', 'word=harbour');
  expect(JSON.parse(stdout)).toEqual({ factors: [[2, 2, 3], [5, 7], [97]], words: 5 });
  expect(code).toBe(0);
});

it('its profile "writer" runs scripts, which reach only what changes nothing', async () => {
  const code = `const removed = await tools.remove_file({ path: 'about.txt' }).catch(({ code }) => code);
return [removed, await tools.count_words({ text: "a b" })]`;
  const { stdout } = await toolcrib('call', 'execute_script', '--profile', 'writer', `code=${code}`, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, data: ['unknown_tool', { words: 2 }] });
});

it.each([
  ['function', 'count_words', ['text=one two three'], { words: 3, lines: 1, characters: 13 }],
  ['mcp', 'notes_find', ['word=nothing'], undefined],
  ['http', 'town_weather', ['town=harbour'], { town: 'harbour', sky: 'fog', celsius: 9 }],
  ['shell', 'list_folder', [], ['about.txt']],
  ['python', 'prime_factors', ['number=360'], [2, 2, 2, 3, 3, 5]],
  ['http', 'town_list', [], { towns: expect.arrayContaining([{ name: 'hilltop', population: 2600 }]) }],
])('one toolcrib.yaml has a tool of every kind, and `toolcrib call` runs it: %s', async (kind, name, args, data) => {
  const shown = JSON.parse((await toolcrib('show', name, '--json')).stdout);
  expect(shown).toMatchObject({ name, kind });
  const { code, stdout } = await toolcrib('call', name, ...args, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, ...(data !== undefined && { data }) });
  expect(code).toBe(0);
});

describe.each([
  ['with bubblewrap, where it is installed', () => process.env.PATH],
  ['without bubblewrap', () => join(home, 'bin')],
])('%s', (_, pathOf) => {
  it('its commands run, and check reports no problem', async () => {
    const list = await toolcribOn(pathOf(), 'call', 'list_folder', '--json');
    expect(JSON.parse(list.stdout)).toMatchObject({ ok: true, data: ['about.txt'] });
    const report = JSON.parse((await toolcribOn(pathOf(), 'check', '--json')).stdout);
    expect(report).toMatchObject({ ok: true, problems: [] });
    if (pathOf() === join(home, 'bin'))
      expect(report.notes).toEqual([
        '2 commands may run without a sandbox (bubblewrap (bwrap) is not installed): list_folder, remove_file.',
      ]);
  });

  it('a tool that deletes a file requires approval, deletes the named file, and nothing outside its folder', async () => {
    const toolcrib = (...args: readonly string[]) => toolcribOn(pathOf(), ...args);
    const file = join(starter, 'workspace/old.txt');
    cpSync(join(starter, 'workspace/about.txt'), file);
    expect(await toolcrib('call', 'remove_file', 'path=old.txt', '--json')).toMatchObject({ code: 1 });
    expect(existsSync(file)).toBe(true);
    for (const path of ['../toolcrib.yaml', '../specs/tools.yaml', '.', '..', '-rf']) {
      const { code, stdout } = await toolcrib('call', 'remove_file', `path=${path}`, '--yes', '--json');
      expect(code, stdout).toBe(1);
    }
    expect(existsSync(join(starter, 'toolcrib.yaml'))).toBe(true);
    expect(await toolcrib('call', 'remove_file', 'path=old.txt', '--yes')).toMatchObject({ code: 0 });
    expect(existsSync(file)).toBe(false);
    expect(existsSync(join(starter, 'workspace/about.txt'))).toBe(true);
  });
});
