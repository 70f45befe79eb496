import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorkshop, type Workshop } from '../cli/workshop.ts';
import { ERAS } from '../mcp/eras.ts';
import { askThrough, execute } from './served.ts';

/** Tools that never answer, whatever they are told. */
const TOOLS = `
const never = () => new Promise(() => { setInterval(() => {}, 1000); });
const tool = (name, more = {}) => ({ name, description: name, input: { type: 'object' }, execute: never, ...more });
export const pay = tool('pay');
export const look = tool('look', { effects: { readOnly: true } });
export const alone = tool('alone', { policy: { concurrency: [{ scope: 'tool', amount: 1 }] } });
`;

const config = (graceMs: number) => `
sources: { tools: { modules: ./tools } }
store: { url: "sqlite:.toolcrib/crib.db" }
server: { graceMs: ${graceMs} }
`;

const TOKEN = 'a-token-of-our-own-choice';

async function startServing(graceMs: number) {
  const shop = createWorkshop({ 'toolcrib.yaml': config(graceMs), 'tools/tools.mjs': TOOLS });
  onTestFinished(shop.remove);
  const child = shop.start(['serve', '--port', '0'], { env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error(`it ended: ${stderr}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
      const [, found] = /listens on (\S+)[\s\S]*Or try:/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return { shop, child, url, ended, ask: askThrough((request) => fetch(request), url) };
}

/** The outcome of a call: what its client was told, or how the connection broke. */
type Told = Promise<string>;

async function overRest(url: string, tool: string): Told {
  const { json } = await execute(
    askThrough((request) => fetch(request), url),
    tool,
    {},
  );
  return json.error.code;
}

async function overMcp(url: string, era: string, call: { tool: string; onProgress?: () => void }): Told {
  const { tool, onProgress } = call;
  const client = await ERAS[era]?.(`${url}/mcp`);
  const answer = await client?.call(tool, {}, onProgress === undefined ? {} : { onProgress });
  return answer?.isError === true ? (/^\w+/.exec(answer.content[0]?.text ?? '')?.[0] ?? '') : 'no error';
}

/** Every way on which a call comes in. With `onProgress` the answer is a stream of events from the beginning. */
const WAYS: Readonly<Record<string, (url: string, tool: string) => Told>> = {
  REST: overRest,
  ...Object.fromEntries(
    Object.keys(ERAS).flatMap((era) => [
      [`MCP ${era}`, (url: string, tool: string) => overMcp(url, era, { tool })],
      [`MCP ${era} with progress`, (url: string, tool: string) => overMcp(url, era, { tool, onProgress: () => {} })],
    ]),
  ),
};

const EXPECTED = { pay: 'unknown_outcome', look: 'cancelled' };

describe('the end of the grace time', () => {
  it.each([
    ['while answers would be whole', 200],
    ['when answers of older revisions have become streams of events', 1500],
  ])('answers 54 calls in flight before connections are closed: %s', { timeout: 120_000 }, async (_, graceMs) => {
    const { shop, child, url, ended, ask } = await startServing(graceMs);
    const calls = Object.entries(WAYS).flatMap(([way, call]) =>
      Object.keys(EXPECTED).flatMap((tool) =>
        Array.from({ length: 3 }, () => ({ way, tool, told: call(url, tool).catch((cause) => String(cause)) })),
      ),
    );
    await untilInFlight(ask, calls.length);
    child.kill('SIGTERM');
    const told = await Promise.all(calls.map(async (call) => ({ ...call, told: await call.told })));
    expect(told).toEqual(told.map(({ way, tool }) => ({ way, tool, told: EXPECTED[tool as keyof typeof EXPECTED] })));
    expect(await ended).toEqual([0, null]);
    expect(await recorded(shop)).toEqual({ cancelled: calls.length / 2, unknown_outcome: calls.length / 2 });
  });

  it('answers that a queued call did nothing', async () => {
    const { child, ended, ask } = await startServing(200);
    const answers = [execute(ask, 'alone', {}), execute(ask, 'alone', {})];
    await untilInFlight(ask, 2);
    child.kill('SIGTERM');
    const errors = (await Promise.all(answers)).map(({ json }) => json.error);
    expect(errors.map(({ code }) => code).toSorted()).toEqual(['cancelled', 'unknown_outcome']);
    expect(errors.find(({ code }) => code === 'cancelled')).toMatchObject({
      retryable: true,
      message: 'The crib was closed before "alone" began, so it was not run. Call it again.',
    });
    expect(await ended).toEqual([0, null]);
  });

  it('answers calls that came over stdio', async () => {
    const shop = createWorkshop({ 'toolcrib.yaml': config(200), 'tools/tools.mjs': TOOLS });
    onTestFinished(shop.remove);
    const child = shop.start(['serve', '--stdio']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    const heard = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const say = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const hear = async () => JSON.parse((await heard.next()).value ?? '{}');
    const clientInfo = { name: 'hand', version: '1' };
    say({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    await hear();
    say({ method: 'notifications/initialized' });
    for (const [id, name] of ['pay', 'look'].entries()) say({ id: id + 1, method: 'tools/call', params: { name } });
    say({ id: 9, method: 'ping' });
    expect(await hear()).toMatchObject({ id: 9 }); // what came before it was read before it
    child.kill('SIGTERM');
    const texts = [await hear(), await hear()].map(({ id, result }) => [id, result.content[0].text.split(':')[0]]);
    expect(texts.toSorted()).toEqual([
      [1, 'unknown_outcome'],
      [2, 'cancelled'],
    ]);
    expect(await ended).toEqual([0, null]);
  });
});

async function untilInFlight(ask: ReturnType<typeof askThrough>, count: number): Promise<void> {
  const inFlight = async () => {
    const { text } = await ask('/metrics', { token: TOKEN });
    const samples = text.matchAll(/^toolcrib_calls_in_flight\{.*\} (\d+)$/gm);
    return samples.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  await expect.poll(inFlight, { timeout: 60_000 }).toBe(count);
}

/** How many calls the audit has of each outcome. */
async function recorded(shop: Workshop): Promise<Readonly<Record<string, number>>> {
  const { stdout } = await shop.run(['audit', 'export']);
  const rows = stdout.trim().split('\n');
  const groups = Map.groupBy(rows, (row) => String(JSON.parse(row).outcome));
  return Object.fromEntries([...groups].map(([outcome, found]) => [outcome, found.length]));
}
