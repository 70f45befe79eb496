import { once } from 'node:events';
import { chmodSync, renameSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { removePrograms, SANDBOX, said, script, shopWith, withPrograms } from './shell-shop.ts';

afterAll(removePrograms);

type Mode = 'required' | 'preferred' | 'none';

/** A command that says whether it was held in: inside, its home is a folder of its own. */
const WHERE = '[ "$HOME" = /tmp ] && echo confined || echo bare';
const LOCAL = [
  script('silent', WHERE),
  script('declared', WHERE, { sandbox: {} }),
  script('named', WHERE, { sandbox: { read: '.', network: false } }),
  script('required', WHERE, { sandbox: { mode: 'required' } }),
  script('preferred', WHERE, { sandbox: { mode: 'preferred' } }),
  script('none', WHERE, { sandbox: { mode: 'none' } }),
  { name: 'older', description: 'older', tool_type: 'sandbox', implementation_config: { command: 'echo ran' } },
];
const NAMES = ['silent', 'declared', 'named', 'required', 'preferred', 'none', 'older'];

const CURE = /^unavailable: .* executors\.shell\.sandbox: preferred to run it without one\.$/;
const NO_CURE = /^unavailable: .*; install or repair bubblewrap\.$/;
const RAN = /^(bare|ran)\n$/;

async function answers(options: {
  readonly sandbox?: Mode;
  readonly rest?: object;
  readonly tools?: readonly object[];
}) {
  const { sandbox, rest = {}, tools = LOCAL } = options;
  const { chest, crib } = await shopWith({ tools, rest, ...(sandbox !== undefined && { sandbox }) });
  const said_ = await Promise.all(NAMES.map(async (name) => [name, said(await chest.call(name, {}))] as const));
  return { crib, answer: Object.fromEntries(said_) };
}

describe('without bubblewrap', () => {
  it.each<readonly [owner: Mode | undefined, refused: readonly string[], forGood: readonly string[]]>([
    [undefined, ['declared', 'named', 'older'], ['required']],
    ['none', ['declared', 'named', 'older'], ['required']],
    ['preferred', [], ['required']],
    ['required', [], NAMES],
  ])(
    'a local command that declares a sandbox runs without one only if the operator prefers one: %s',
    async (sandbox, refused, forGood) => {
      withPrograms(['bwrap']);
      const { crib, answer } = await answers(sandbox === undefined ? {} : { sandbox });
      for (const name of NAMES)
        expect(answer[name], name).toMatch(forGood.includes(name) ? NO_CURE : refused.includes(name) ? CURE : RAN);
      const { problems, notes } = await crib.review();
      const listed = (names: readonly string[]) => `: ${names.join(', ')}.`;
      const ran = NAMES.filter((name) => !refused.includes(name) && !forGood.includes(name));
      expect(notes).toEqual(
        ran.length === 0
          ? []
          : [`${ran.length} commands may run without a sandbox (bubblewrap (bwrap) is not installed)${listed(ran)}`],
      );
      for (const names of [refused, forGood].filter(({ length }) => length > 0)) {
        const found = problems.find((problem) => problem.includes(listed(names)));
        expect(found).toMatch(new RegExp(`^${names.length} commands? cannot run`));
        expect(found?.includes('executors.shell.sandbox: preferred')).toBe(names === refused);
      }
    },
  );

  it.each<readonly [source: Mode, owner: Mode | undefined, expected: RegExp]>([
    ['preferred', undefined, RAN],
    ['none', undefined, CURE],
    ['required', 'preferred', NO_CURE],
    ['preferred', 'required', NO_CURE],
    ['none', 'preferred', RAN],
  ])('a source sets it for its own commands: %s there, %s in the executor', async (source, owner, expected) => {
    withPrograms(['bwrap']);
    const { chest } = await shopWith({
      tools: [],
      ...(owner !== undefined && { sandbox: owner }),
      files: { 'specs/a.json': JSON.stringify({ tools: LOCAL }) },
      rest: { sources: { data: { files: './specs', sandbox: source } } },
    });
    expect(said(await chest.call('declared', {}))).toMatch(expected);
    expect(said(await chest.call('required', {}))).toMatch(NO_CURE);
  });
});

describe('a command of a remote list', () => {
  const remote = async (options: { readonly sandbox?: Mode; readonly source?: object }) => {
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(LOCAL)),
    );
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`; // it listens on TCP
    const rest = { sources: { far: { http: url, kinds: ['shell'], trust: true, ...options.source } } };
    return (await answers({ rest, tools: [], ...(options.sandbox !== undefined && { sandbox: options.sandbox }) }))
      .answer;
  };

  it('cannot turn its sandbox off: its own "preferred" and "none" do not count', async () => {
    withPrograms(['bwrap']);
    const answer = await remote({});
    for (const name of NAMES) expect(answer[name], name).toMatch(name === 'required' ? NO_CURE : CURE);
  });

  it('runs without a sandbox if the operator prefers one, in the executor or at the source', async () => {
    withPrograms(['bwrap']);
    for (const options of [{ sandbox: 'preferred' as const }, { source: { sandbox: 'preferred' } }]) {
      const answer = await remote(options);
      for (const name of NAMES) expect(answer[name], name).toMatch(name === 'required' ? NO_CURE : RAN);
    }
  });

  it.skipIf(!SANDBOX.ok)('runs in a sandbox if there is one, whatever it says', async () => {
    const answer = await remote({});
    for (const name of NAMES) expect(answer[name], name).toMatch(name === 'older' ? RAN : /^confined\n$/);
  });
});

describe.skipIf(!SANDBOX.ok)('with bubblewrap', () => {
  it('only a local command that says none runs without', async () => {
    const { crib, answer } = await answers({});
    for (const name of NAMES)
      expect(answer[name], name).toBe(name === 'older' ? 'ran\n' : name === 'none' ? 'bare\n' : 'confined\n');
    expect(await crib.review()).toEqual({ problems: [], notes: ['1 command may run without a sandbox: none.'] });
  });

  it('a configuration that says none affects only commands without a sandbox setting', async () => {
    const { answer } = await answers({ sandbox: 'none' });
    const bare = NAMES.filter((name) => answer[name] === 'bare\n');
    expect(bare).toEqual(['silent', 'none']);
  });
});

it('an untrusted file cannot turn the sandbox of its commands off', async () => {
  withPrograms(['bwrap']);
  const { chest } = await shopWith({
    tools: [],
    files: { 'specs/a.json': JSON.stringify({ tools: LOCAL }) },
    rest: { sources: { data: { files: './specs', trust: false } } },
  });
  expect(said(await chest.call('none', {}))).toMatch(CURE);
});

/** Puts a program that says to be bubblewrap first on the PATH, and returns its file. */
function withBubblewrap(text: string): string {
  withPrograms(['bwrap'], { bwrap: text });
  const file = join(process.env.PATH?.split(':')[0] ?? '', 'bwrap');
  chmodSync(file, 0o755);
  return file;
}

describe('a bubblewrap that confines nothing does not count', () => {
  it.each([
    ['that only ends', '#!/bin/sh\nexit 0\n'],
    ['that only starts the program', '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'],
    ['that says what it was not asked for', '#!/bin/sh\necho fine\n'],
  ])('%s', async (_, text) => {
    withBubblewrap(text);
    const { crib, answer } = await answers({});
    for (const name of ['declared', 'named', 'required', 'older']) expect(answer[name], name).toMatch(/^unavailable: /);
    expect(answer.silent).toBe('bare\n');
    const { problems, notes } = await crib.review();
    expect(problems.join()).toContain('the program that it starts is not isolated');
    expect(notes.join()).toContain('the program that it starts is not isolated');
  });
});

describe.skipIf(!SANDBOX.ok)('a bubblewrap that is removed while the crib runs', () => {
  it.each<Mode | undefined>([undefined, 'preferred', 'required'])('turns off no sandbox: %s', async (sandbox) => {
    const file = withBubblewrap('#!/bin/sh\nexec /usr/bin/bwrap "$@"\n');
    const { chest, crib } = await shopWith({ tools: LOCAL, ...(sandbox !== undefined && { sandbox }) });
    const held = NAMES.filter((name) => sandbox === 'required' || name !== 'none');
    for (const name of held) expect(said(await chest.call(name, {})), name).toMatch(/^(confined|ran)\n$/);
    renameSync(file, `${file}.away`);
    for (const name of held)
      expect(said(await chest.call(name, {})), name).toMatch(
        /^unavailable: .*not installed, although a sandbox was available before/,
      );
    expect((await crib.review()).problems.join()).toContain(held.join(', '));
    renameSync(`${file}.away`, file);
    for (const name of held) expect(said(await chest.call(name, {})), name).toMatch(/^(confined|ran)\n$/);
  });
});
