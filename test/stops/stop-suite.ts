import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createWorkshop, type Workshop } from '../doors/cli/workshop.ts';
import { type Ask, askThrough, execute } from '../doors/rest/served.ts';

/** A tool that adds, and one that says when it began and never ends by itself. */
const TOOLS = `
import { writeFileSync } from 'node:fs';
const input = { type: 'object', properties: { mark: { type: 'string' } } };
export const add = { name: 'add', description: 'Add', input, execute: () => 3 };
export const slow = { name: 'slow', description: 'Wait', input, execute: ({ mark }) => {
  writeFileSync(mark, '');
  return new Promise(() => {});
} };
`;
const TOKEN = 'a-token-of-our-own-choice';
/** What docs/reliability.md promises, three times. */
const WITHIN_MS = 3 * 1000;

interface Server {
  readonly child: ChildProcess;
  readonly ask: Ask;
}

/** The real server, once it listens. */
async function serve(shop: Workshop): Promise<Server> {
  const child = shop.start(['serve', '--port', '0'], { env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    void once(child, 'close').then(() => reject(new Error(`it ended: ${stderr}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
      const [, found] = /listens on (\S+)/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return { child, ask: askThrough((request) => fetch(request), url) };
}

/** A folder whose tools two servers offer from one store. */
async function openPlace(url: string) {
  const store = url === '' ? '' : `store: { url: ${JSON.stringify(url)} }\n`;
  const shop = createWorkshop({
    'toolcrib.yaml': `sources: { own: { modules: ./tools } }\n${store}`,
    'tools/t.mjs': TOOLS,
  });
  onTestFinished(shop.remove);
  const first = await serve(shop);
  const second = await serve(shop);
  return { shop, first, second };
}

const codeOf = async ({ ask }: Server, tool = 'add', input = {}): Promise<string> => {
  const { json } = await execute(ask, tool, input);
  return json.ok === true ? 'done' : json.error.code;
};
const isSoon = (server: Server, code: string) =>
  vi.waitFor(async () => expect(await codeOf(server)).toBe(code), { timeout: WITHIN_MS, interval: 50 });

/** What is true of stops in processes that share a store; '' names the usual one beside the configuration. */
export function stopSuite(place: () => Promise<string>): void {
  it('a stop from the command line reaches every process within a second, cancels, outlives a kill and a restart, and is in the audit', async () => {
    const { shop, first, second } = await openPlace(await place());
    expect([await codeOf(first), await codeOf(second)]).toEqual(['done', 'done']);
    const held = [first, second].map((server, index) => codeOf(server, 'slow', { mark: `begun-${index}` }));
    await vi.waitFor(() => {
      for (const index of [0, 1]) expect(existsSync(join(shop.folder, `begun-${index}`))).toBe(true);
    }, 10_000);

    const stopped = await shop.run(['stop', 'tool:slow', '--note', 'it never ends', '--cancel']);
    expect(stopped).toMatchObject({ code: 0, stdout: 'tool:slow stopped\n' });
    expect(stopped.stderr).toMatch(
      /^Every process that uses the store .+ refuses these calls and cancels those in flight/,
    );
    const late = new Promise((resolve) => setTimeout(resolve, WITHIN_MS, 'late'));
    expect(await Promise.race([Promise.all(held), late])).toEqual(['unknown_outcome', 'unknown_outcome']);
    expect(await codeOf(second, 'slow')).toBe('unavailable');
    expect(await codeOf(second)).toBe('done');

    await shop.run(['stop', 'all']);
    await isSoon(first, 'unavailable');
    await isSoon(second, 'unavailable');
    first.child.kill('SIGKILL');
    const restarted = await serve(shop);
    expect(await codeOf(restarted)).toBe('unavailable');

    const { status, json } = await second.ask('/api/stops?target=all&note=repaired', {
      method: 'DELETE',
      token: TOKEN,
    });
    expect([status, json]).toMatchObject([200, { resumed: { target: 'all' } }]);
    expect(await codeOf(second)).toBe('done');
    await isSoon(restarted, 'done');
    expect((await restarted.ask('/api/stops', { token: TOKEN })).json.stops).toMatchObject([
      { target: 'tool:slow', note: 'it never ends', by: expect.stringMatching(/^cli/) },
    ]);

    const exported = (await shop.run(['audit', 'export'])).stdout.trim().split('\n');
    const rows = exported.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'stop');
    const said = rows
      .toSorted((a, b) => a.at - b.at)
      .map(({ outcome, target, door, note }) => [outcome, target, door, note]);
    expect(said).toEqual([
      ['stopped', 'tool:slow', 'cli', 'it never ends'],
      ['stopped', 'all', 'cli', undefined],
      ['resumed', 'all', 'rest', 'repaired'],
    ]);
    expect(await shop.run(['audit', 'verify'])).toMatchObject({ code: 0 });
  });
}
