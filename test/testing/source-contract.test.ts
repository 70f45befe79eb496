import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { LiveSource } from '../../src/core/source.ts';
import { files } from '../../src/sources/files.ts';
import { type SourceSubject, sourceContract } from '../../src/testing/index.ts';

/** A source of a list that tests change, in ways that a test may spoil. */
function subjectOf(spoiled: Partial<LiveSource> = {}): SourceSubject {
  const toolOf = (name: string) => ({ name, description: '', run: { kind: 'echo' } }) as never; // it becomes a spec when it is let in
  const before = [toolOf('one'), toolOf('two')];
  let listed = before;
  let open = 0;
  const listeners = new Set<() => void>();
  const live = (): LiveSource => {
    let isOpen = true;
    open += 1;
    return {
      specs: () => listed,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      status: () => ({ state: 'ready' }),
      async close() {
        if (isOpen) open -= 1;
        isOpen = false;
      },
      ...spoiled,
    };
  };
  return {
    create: () => ({ name: 'list', start: async () => live() }),
    names: ['two', 'one'],
    changes: {
      change() {
        listed = [...before, toolOf('three')];
        for (const listener of listeners) listener();
      },
      names: ['one', 'two', 'three'],
      restore() {
        listed = before;
      },
    },
    createBroken: () => ({
      name: 'list',
      start: async () => {
        throw new Error('There is no list.');
      },
    }),
    createStuck: () => ({
      name: 'list',
      start: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    }),
    isGone: () => open === 0,
  };
}

describe('a source that keeps the contract', () => {
  for (const { name, run } of sourceContract(subjectOf())) it(name, run);
});

async function runLaw(subject: SourceSubject, begin: string): Promise<void> {
  const laws = sourceContract(subject).filter(({ name }) => name.startsWith(begin));
  expect(laws).toHaveLength(1);
  for (const { run } of laws) await run();
}

const toolsOf = (tool: unknown) => ({ specs: () => [tool] as never }); // as careless authors do

describe('a source that breaks the contract is reported', () => {
  it.each<readonly [what: string, spoiled: Partial<LiveSource>, law: string, why: string]>([
    ['a name that vendors refuse', toolsOf({ name: 'a b', run: () => 1 }), 'it lists valid tools', 'not a tool name'],
    [
      'a tool that does not run',
      toolsOf({ name: 'one', description: '' }),
      'it lists valid tools',
      'a run with a kind',
    ],
    ['no tool at all', toolsOf('one'), 'it lists valid tools', 'not a tool'],
    ['other tools', toolsOf({ name: 'other', run: { kind: 'x' } }), 'it lists valid tools', 'other'],
    ['a description that is not text', toolsOf({ name: 'one', description: 5 }), 'it lists valid tools', 'not a text'],
    ['one that is down', { status: () => ({ state: 'down', reason: 'tired' }) }, 'it is ready', 'tired'],
    [
      'new objects each time',
      { specs: () => [{ name: 'one' } as never] },
      'it returns the same',
      'must be the same objects',
    ],
    ['a refresh that fails', { refresh: () => Promise.reject(new Error('no')) }, 'a refresh', 'no'],
    ['a close that fails', { close: () => Promise.reject(new Error('no')) }, 'it can be closed', 'no'],
    ['a close that does nothing', { close: async () => {} }, 'it leaves nothing behind', 'left something'],
  ])('%s', async (_what, spoiled, law, why) => {
    await expect(runLaw(subjectOf(spoiled), law)).rejects.toThrow(why);
  });

  it('a listener that cannot unsubscribe', async () => {
    const listeners: (() => void)[] = [];
    const subject = subjectOf({
      onChange(listener) {
        listeners.push(listener);
        return () => {};
      },
    });
    const change = () => {
      for (const listener of listeners) listener();
    };
    const changes = { names: [], restore: () => {}, change };
    await expect(runLaw({ ...subject, changes }, 'a removed listener')).rejects.toThrow('that was removed');
  });

  it('a broken source without a message', async () => {
    const { create, ...subject } = subjectOf();
    await expect(
      runLaw({ ...subject, create, createBroken: create }, 'a source with a missing origin'),
    ).rejects.toThrow('ready');
  });

  it('tests without a case are skipped', () => {
    const { create, names } = subjectOf();
    expect(sourceContract({ create, names })).toHaveLength(6);
  });
});

describe('the source of spec files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-source-contract-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(folder, 'tools.json');
  const write = (...names: string[]) =>
    writeFileSync(file, JSON.stringify({ tools: names.map((name) => ({ name, run: { kind: 'echo' } })) }));
  write('one', 'two');
  const laws = sourceContract({
    create: () => files({ name: 'local', path: folder }),
    names: ['one', 'two'],
    changes: { change: () => write('one', 'three'), names: ['one', 'three'], restore: () => write('one', 'two') },
    createBroken: () => files({ name: 'local', path: join(folder, 'gone') }),
  });
  for (const { name, run } of laws) it(name, run);
});
