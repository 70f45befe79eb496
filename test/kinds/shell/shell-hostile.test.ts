import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { MODES, processesOf, SANDBOX, said, shellTool, shopWith, TEXT, uniqueSeconds } from './shell-shop.ts';

/** Runs a script that is not ours to trust. */
const script = (name: string, text: string, rest: object = {}, policy: object = {}) =>
  shellTool(name, {}, { command: ['sh', '-c', text.replaceAll('{', '{{').replaceAll('}', '}}')], ...rest }, { policy });

const appears = (path: string) =>
  vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 30_000, interval: 5 });
const isGone = (token: string) => expect(processesOf(token)).toEqual([]);

describe.each(MODES)('a hostile program %s', (_, sandbox) => {
  it.each(['yes flood', 'yes flood >&2', 'yes | tr -d "\\n"', 'trap "" TERM; yes'])(
    'that floods its output is ended: %s',
    async (text) => {
      const { chest } = await shopWith({ sandbox, tools: [script('flood', text)] });
      expect(said(await chest.call('flood', {}))).toBe(
        'too_large: "flood" was stopped because it printed more than 10000000 bytes; ask for less.',
      );
    },
  );

  it('that never reads its input, or closes its output early, affects no other call', async () => {
    const { chest } = await shopWith({
      sandbox,
      tools: [
        shellTool('deaf', { text: TEXT }, { command: ['true'], stdin: '{text}' }),
        shellTool('some', { text: TEXT }, { command: ['head', '-c', '3'], stdin: '{text}' }),
        script('mute', 'exec >&- 2>&-; true'),
        script('closes', 'echo a; exec >&-; exit 2'),
      ],
    });
    const text = 'x'.repeat(5_000_000);
    expect(said(await chest.call('deaf', { text }))).toBe('');
    expect(said(await chest.call('some', { text }))).toBe('xxx');
    expect(said(await chest.call('mute', {}))).toBe('');
    expect(await chest.call('closes', {})).toMatchObject({ data: { exitCode: 2, stdout: 'a\n' } });
  });

  it('that ignores SIGTERM is killed, with all its children, at its timeout', async () => {
    const seconds = uniqueSeconds();
    const text = `trap "" TERM; (trap "" TERM; sleep ${seconds}; sleep ${seconds}) & sleep ${seconds}; sleep ${seconds}`;
    const { chest, crib } = await shopWith({ sandbox, tools: [script('deaf', text, {}, { timeoutMs: 200 })] });
    expect(said(await chest.call('deaf', {}))).toMatch(/^timeout/);
    await crib.close(); // the call has ended for its caller; closing waits for the rest
    isGone(seconds);
  });

  it('may end normally when it is cancelled', async () => {
    const text = 'trap "echo bye > bye.txt; exit 0" TERM; touch up.txt; while :; do sleep 0.05; done';
    const { chest, folder } = await shopWith({ sandbox, roots: ['.'], tools: [script('polite', text)] });
    const ending = new AbortController();
    const answer = chest.call('polite', {}, { signal: ending.signal });
    await appears(join(folder, 'up.txt'));
    ending.abort();
    expect(said(await answer)).toMatch(/^cancelled/);
    await appears(join(folder, 'bye.txt'));
  });

  it('leaves no child behind, in any session', async () => {
    const seconds = uniqueSeconds();
    const daemon = `setsid sh -c 'trap "" TERM HUP; touch up.txt; sleep ${seconds}; sleep ${seconds}'`;
    const wait = 'while [ ! -e up.txt ]; do sleep 0.01; done; echo left';
    const { chest, crib } = await shopWith({
      sandbox,
      roots: ['.'],
      tools: [
        script('silent', `(${daemon} > /dev/null 2>&1 < /dev/null &) ; ${wait}; rm up.txt`),
        // It holds the output open: the call must not wait for it.
        script('loud', `(${daemon} &) ; ${wait}; rm up.txt`),
        script('grouped', `sleep ${seconds} & sleep ${seconds} > /dev/null & echo left`),
      ],
    });
    expect(said(await chest.call('silent', {}))).toBe('left\n');
    expect(said(await chest.call('loud', {}))).toBe('left\n');
    expect(said(await chest.call('grouped', {}))).toBe('left\n');
    await crib.close();
    isGone(seconds);
  });

  it('is gone some time after its call even if the crib stays open', async () => {
    const seconds = uniqueSeconds();
    const { chest } = await shopWith({
      sandbox,
      tools: [script('daemon', `(setsid sleep ${seconds} > /dev/null 2>&1 < /dev/null &); sleep 0.05; echo left`)],
    });
    expect(said(await chest.call('daemon', {}))).toBe('left\n');
    await vi.waitFor(() => isGone(seconds), { timeout: 30_000, interval: 50 });
  });

  it('that forks without end is killed with all children', async () => {
    const seconds = uniqueSeconds();
    const text = `count=0; while [ $count -lt 150 ]; do count=$((count+1)); setsid sleep ${seconds} & done; touch up.txt; wait`;
    const { chest, crib, folder } = await shopWith({ sandbox, roots: ['.'], tools: [script('bomb', text)] });
    const ending = new AbortController();
    const answer = chest.call('bomb', {}, { signal: ending.signal });
    await appears(join(folder, 'up.txt'));
    ending.abort();
    expect(said(await answer)).toMatch(/^cancelled/);
    await crib.close();
    isGone(seconds);
  });

  it('cannot get more arguments than the system allows', async () => {
    const { chest } = await shopWith({
      sandbox,
      tools: [shellTool('long', { text: TEXT }, { command: ['true', '{text}'] })],
    });
    expect(said(await chest.call('long', { text: 'x'.repeat(4_000_000) }))).toMatch(
      /^invalid_input: .*too long for a program|^unavailable: .*sandbox could not be created/,
    );
  });
});

/** Ways out of the session, group and environment of a call. */
const ORPHANS: readonly (readonly [string, string])[] = [
  ['a session of its own without its environment', 'setsid -f env -i sh -c'],
  ['a session of its own', 'setsid -f sh -c'],
  ['a session in a session', 'setsid -f env -i setsid -f sh -c'],
  ['a child that its parent left alone', '(env -i setsid nohup sh -c'],
];
/** How a call ends, after its orphan is up. */
const ENDINGS = [
  'ends',
  'fails',
  'is cancelled',
  'is out of time',
  'says too much',
  'is left when the crib closes',
] as const;

/** Makes a call that leaves an orphan behind, and lets it end. */
async function leaveOrphan(
  sandbox: 'required' | 'none',
  [command, ending]: readonly [string, (typeof ENDINGS)[number]],
) {
  const seconds = uniqueSeconds();
  const close = command.startsWith('(') ? ' > /dev/null 2>&1 &)' : '';
  const orphan = `${command} 'touch up.txt; exec sleep ${seconds}'${close}`;
  const tails = { ends: 'true', fails: 'exit 3', 'says too much': 'yes flood' } as Readonly<Record<string, string>>;
  const text = `${orphan}; while [ ! -e up.txt ]; do sleep 0.01; done; ${tails[ending] ?? 'sleep 1000'}`;
  const policy = ending === 'is out of time' ? { timeoutMs: 2000 } : {};
  const { chest, crib, folder } = await shopWith({
    sandbox,
    roots: ['.'],
    tools: [script('orphan', text, {}, policy)],
  });
  const ended = new AbortController();
  const answer = chest.call('orphan', {}, { signal: ended.signal });
  await appears(join(folder, 'up.txt'));
  if (ending === 'is cancelled') ended.abort();
  if (ending === 'is left when the crib closes') await crib.close();
  await answer;
  return { seconds, crib };
}

describe.skipIf(!SANDBOX.ok)('a program in a sandbox', () => {
  it.each(
    ORPHANS.flatMap(([how, command], index) =>
      ENDINGS.slice(0, index === 0 ? undefined : 3).map((ending) => [how, ending, command] as const),
    ),
  )('does not outlive its call in %s, if the call %s', async (_, ending, command) => {
    const { seconds, crib } = await leaveOrphan('required', [command, ending]);
    if (ending !== 'ends' && ending !== 'fails') await crib.close(); // the call has ended for its caller; closing waits for the rest
    isGone(seconds);
  });
});

it('a program without a sandbox that leaves its session without its environment survives, as docs/security.md says', async () => {
  const { seconds, crib } = await leaveOrphan('none', ['setsid -f env -i sh -c', 'ends']);
  await crib.close();
  expect(processesOf(seconds)).toHaveLength(1); // if it were gone, the tests above would show nothing
});

describe.each(MODES)('many calls at once %s', (_, sandbox) => {
  it('all end, some of them cancelled, and no process, descriptor or file is left', async () => {
    const seconds = uniqueSeconds();
    const { chest, crib } = await shopWith({
      sandbox,
      rest: { extensions: { concurrency: { slots: [{ scope: 'all', amount: 32 }], maxWaiting: 1000 } } },
      tools: [
        shellTool('echo', { text: TEXT }, { command: ['echo', '{text}'] }),
        script('sleeps', `sleep ${seconds}`),
        script('deaf', `trap "" TERM; sleep ${seconds}`, {}, { timeoutMs: 300 }),
      ],
    });
    await chest.call('echo', { text: 'warm' });
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = { descriptors: descriptors(), files: readdirSync(tmpdir()).length };
    const calls = Array.from({ length: 200 }, async (_each, index) => {
      const signal = AbortSignal.timeout(50 + (index % 20) * 20);
      if (index % 10 === 1) return (await chest.call('sleeps', {}, { signal })).ok === false;
      if (index % 40 === 2) return (await chest.call('deaf', {})).ok === false;
      return said(await chest.call('echo', { text: `${index}` })) === `${index}\n`;
    });
    expect((await Promise.all(calls)).filter((isRight) => !isRight)).toEqual([]);
    await vi.waitFor(() => isGone(seconds), { timeout: 30_000, interval: 50 });
    await vi.waitFor(() => expect(descriptors()).toBeLessThanOrEqual(before.descriptors), { timeout: 30_000 });
    await crib.close();
    expect(readdirSync(tmpdir()).length - before.files).toBeLessThan(50); // others use it, too
  });
});

it.skipIf(SANDBOX.ok)('the sandbox tests are skipped without bubblewrap', () => {
  expect(SANDBOX).toMatchObject({ ok: false });
});
