import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, createCrib } from '../../../src/index.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { type NpmRegistry, startRegistry } from './registry/npm-registry.ts';
import { saidOf, stateOf } from './upstream.ts';

/** As many as may start at a time on a machine of two cores, and the first ones. */
const STALLED = ['archive', 'backup'];
/** It works for longer than it may take to start. */
const SLOW = { name: 'calendar', warmUpMs: 5000, initTimeoutMs: 4000 };
const OTHERS = ['drive', 'emails', 'forum', 'gallery', 'holidays'];
const READY = [SLOW.name, ...OTHERS];
/** Longer than any of them takes on a busy machine. */
const WITHIN = { timeout: 60_000, interval: 50 };

/** A configuration beside a pasted mcp.json, in surroundings in which npm has a registry and nothing else. */
function freshMachine({ url }: NpmRegistry): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'home'));
  for (const name of Object.keys(process.env)) if (/^npm_/i.test(name)) delete process.env[name];
  Object.assign(process.env, {
    HOME: join(folder, 'home'),
    npm_config_cache: join(folder, 'cache'),
    npm_config_registry: url,
    npm_config_update_notifier: 'false',
  });
  const entryOf = (name: string, more = {}) => [name, { command: 'npx', args: ['-y', name], ...more }];
  const mcpServers = Object.fromEntries([
    ...STALLED.map((name) => entryOf(name, { env: { npm_config_loglevel: 'http' } })),
    entryOf(SLOW.name, { initTimeoutMs: SLOW.initTimeoutMs }),
    ...OTHERS.map((name) => entryOf(name)),
  ]);
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers }));
  writeFileSync(join(folder, 'toolcrib.yaml'), 'sources: { pasted: { mcpFile: ./mcp.json } }\n');
  return folder;
}

async function greetingOf(crib: Crib, name: string): Promise<string> {
  return saidOf(await (await crib.openAll()).call(`${name}_greet`));
}

/** Resolves when these sources are in this state, and the reason of each matches. */
async function untilAll(crib: Crib, names: readonly string[], wanted: { state: string; reason?: RegExp }) {
  const isSo = (name: string): boolean => {
    const { state, reason = '' } = stateOf(crib, name) ?? {};
    return state === wanted.state && (wanted.reason ?? /^/).test(reason);
  };
  await vi.waitFor(() => {
    expect(names.filter((name) => !isSo(name)).map((name) => stateOf(crib, name))).toEqual([]);
  }, WITHIN);
}

const SAYS = 'eight npx servers of a pasted mcp.json are ready or say what they wait for, where none is installed';

it(SAYS, { timeout: 120_000 }, async () => {
  const stalled = STALLED.map((name) => ({ name, stalls: true }));
  const registry = await startRegistry([...stalled, SLOW, ...OTHERS.map((name) => ({ name }))]);
  const crib = await createCrib({ configFile: freshMachine(registry), background: true });
  onTestFinished(() => crib.close());

  await Promise.any(READY.map((name) => untilAll(crib, [name], { state: 'ready' })));
  for (const { name } of crib.sources().filter(({ state, toolCount }) => state === 'ready' && toolCount > 0))
    expect(await greetingOf(crib, name)).toBe(`hello from ${name}`);

  await untilAll(crib, READY, { state: 'ready' });
  await untilAll(crib, STALLED, {
    state: 'starting',
    reason: /was idle for 10 s; its last output: .*GET 200 \S+\/(archive|backup) /,
  });
  for (const name of READY) expect(await greetingOf(crib, name)).toBe(`hello from ${name}`);

  registry.release();
  await untilAll(crib, STALLED, { state: 'ready' });
  for (const name of STALLED) expect(await greetingOf(crib, name)).toBe(`hello from ${name}`);
  // None was ended while it was installed, and begun once more.
  expect([...STALLED, ...READY].filter((name) => registry.downloads(name) !== 1)).toEqual([]);
});
