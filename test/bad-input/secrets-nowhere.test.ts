import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { toAnthropic } from '../../src/formats/anthropic.ts';
import { toGemini } from '../../src/formats/gemini.ts';
import { toMcp } from '../../src/formats/mcp.ts';
import { toOpenAI, toOpenAIResults } from '../../src/formats/openai.ts';
import {
  type Chest,
  type Crib,
  createCrib,
  defineTool,
  failed,
  type LogLevel,
  type LogLine,
  logging,
  type ToolCall,
  type ToolInput,
  type ToolResult,
  textOf,
  toolError,
} from '../../src/index.ts';
import { toLogText } from '../../src/system/telemetry.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const input = { type: 'object' } as const;
const saying = (given: unknown) => JSON.stringify(given);
const tools: readonly ToolInput[] = [
  defineTool({ name: 'echo', description: 'Says it again', input, run: (given) => saying(given) }),
  defineTool({
    name: 'throw',
    description: 'Throws it',
    input,
    run: (given) => {
      throw new Error(`cannot do ${saying(given)}`, { cause: new Error(saying(given)) });
    },
  }),
  defineTool({ name: 'reject', description: 'Rejects with it', input, run: async (given) => Promise.reject(given) }),
  defineTool({
    name: 'fail',
    description: 'Fails with it',
    input,
    run: (given) => ({
      ...failed(
        toolError('upstream', saying(given), { issues: [{ path: `/${saying(given)}`, message: saying(given) }] }),
      ),
      content: [{ type: 'text', text: saying(given) }],
      data: given as never,
    }),
  }),
  defineTool({
    name: 'strict',
    description: 'Takes little',
    input: { type: 'object', properties: { kind: { enum: ['a', 'b'] } }, additionalProperties: false },
    run: () => 'fine',
  }),
  defineTool({
    name: 'pass',
    description: 'Passes it on',
    input,
    run: async (given, call: ToolCall) => {
      call.report(saying(given));
      const results = await Promise.all(['throw', 'echo', saying(given)].map((name) => call.tools.call(name, given)));
      return results.map(({ ok }) => ok);
    },
  }),
  defineTool({ name: 'rm', description: 'Asks first', input, effects: { destructive: true }, run: () => 'gone' }),
];
const NAMES = tools.map((tool) => (tool as { name: string }).name);

/** Where what happened can be read afterwards. */
interface Seen {
  readonly crib: Crib;
  readonly chest: Chest;
  readonly lines: readonly LogLine[];
  readonly warned: readonly string[];
  readonly results: readonly { readonly name: string; readonly result: ToolResult }[];
}

async function collect(rows: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const collected = [];
  for await (const row of rows) collected.push(row);
  return collected;
}

/** Each must be free of secrets. What records or lists something new is added here, in one line. */
const surfaces: Readonly<Record<string, (seen: Seen) => unknown>> = {
  specs: ({ chest, crib }) => [chest.list(), crib.catalog.specs, crib.instructions()],
  formats: ({ chest }) => [toOpenAI, toAnthropic, toGemini, toMcp].map((to) => to(chest.list())),
  'log lines': ({ lines }) => lines,
  'log text': ({ lines }) => lines.map(toLogText).join('\n'),
  metrics: ({ crib }) => crib.metrics(),
  'errors of results': ({ results }) =>
    results.filter(({ result }) => result.status === 'failed').map(({ result }) => result),
  'errors as text': ({ results }) => results.filter(({ result }) => !result.ok).map(({ result }) => textOf(result)),
  'exports of errors': ({ results }) =>
    toOpenAIResults(
      results
        .filter(({ result }) => result.status === 'failed')
        .map(({ result }, index) => ({ id: `${index}`, name: 'x', result })),
    ),
  'causes of errors': ({ results }) =>
    results.map(({ result }) =>
      result.status === 'failed' ? String((result.error.cause as Error | undefined)?.stack) : '',
    ),
  warnings: ({ crib, warned }) => [crib.warnings(), warned],
  sources: ({ crib }) => crib.sources(),
  'audit rows': ({ crib }) => collect(crib.audit.export()),
  calls: ({ crib }) => crib.calls.list(),
  approvals: ({ crib }) => crib.approvals.list(),
};

// None is a part of a word of ours, such as "rguments".
const secretText = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z0-9_-]{6,40}$/),
    fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme-ascii' }).filter((text) => text.trim() === text),
  )
  .map((text) => `Zq${text}`);

const base64 = (text: string) => Buffer.from(text).toString('base64');
const spellings: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  base64,
  (secret) => base64(`u:${secret}`),
  (secret) => base64(`x${secret}y`),
  (secret) => Buffer.from(secret).toString('base64url'),
  encodeURIComponent,
  (secret) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  (secret) => new URLSearchParams({ q: secret }).toString(),
];

/** What must not be read anywhere; of base64 the part that does not depend on what follows. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  base64(secret).replace(/.=*$/, ''),
  encodeURIComponent(secret),
  new URLSearchParams({ q: secret }).toString().slice(2),
];

/** Arguments with a secret, spelt somehow, at random places. */
const hidden = (secrets: readonly string[]) => {
  const text = fc
    .tuple(
      fc.string({ maxLength: 20 }),
      fc.constantFrom(...secrets),
      fc.constantFrom(...spellings),
      fc.string({ maxLength: 20 }),
    )
    .map(([before, secret, spell, after]) => `${before}${spell(secret)}${after}`);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      text,
      fc.boolean(),
      fc.integer(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(text, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  return fc.record({
    given: fc.dictionary(fc.oneof(text, fc.constantFrom('a', 'kind', 'password')), tree, {
      maxKeys: 4,
      noNullPrototype: true,
    }),
    words: text,
  });
};

const scenario = fc.tuple(secretText, secretText).chain((secrets) =>
  fc.record({
    secrets: fc.constant(secrets),
    calls: fc.array(fc.tuple(fc.constantFrom(...NAMES, undefined), hidden(secrets)), { minLength: 1, maxLength: 6 }),
    level: fc.constantFrom<LogLevel>('debug', 'info', 'warn', 'error'),
  }),
);

/** A text as one would search it: what JSON escapes would hide nothing from a reader. */
const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

describe('whatever the arguments', () => {
  it('no configured secret (8 characters or more; plain, base64, URL-encoded) appears in any listing, log line, audit row, metric, error or export', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-secrets-'));
    const declared = 'secrets: { one: { env: TOOLCRIB_TEST_ONE }, two: { env: TOOLCRIB_TEST_TWO } }\n';
    writeFileSync(join(folder, 'toolcrib.yaml'), declared);
    const warned: string[] = [];
    const listen = (warning: Error) => void warned.push(warning.message);
    process.on('warning', listen);
    try {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ secrets, calls, level }) => {
          vi.stubEnv('TOOLCRIB_TEST_ONE', secrets[0]);
          vi.stubEnv('TOOLCRIB_TEST_TWO', secrets[1]);
          const lines: LogLine[] = [];
          const crib = await createCrib({
            tools,
            configFile: folder,
            store: { url: 'memory:' },
            watch: false,
            extensions: [logging({ level, sink: (line) => lines.push(line) })],
          });
          const chest = await crib.open(undefined, { id: 'ann' });
          const results = [];
          for (const [name, { given, words }] of calls) {
            // A caller with an approver has an id: only arguments and names are random there.
            const ids = name === 'rm' ? {} : { id: words, conversation: words, door: words };
            const options = { ...ids, park: true };
            results.push({ name: name ?? words, result: await chest.call(name ?? words, given, options) });
          }
          await new Promise((resolve) => setImmediate(resolve));
          const seen: Seen = { crib, chest, lines, warned, results };
          for (const [surface, read] of Object.entries(surfaces)) {
            const shown = toText(await read(seen)).replaceAll(/\[secret (one|two)\]/g, '\n');
            for (const form of secrets.flatMap(formsOf)) {
              const inJson = JSON.stringify(form).slice(1, -1);
              expect([surface, shown.includes(form) || shown.includes(inJson)]).toEqual([surface, false]);
            }
          }
          await crib.close();
        }),
        { numRuns: 40 },
      );
    } finally {
      process.off('warning', listen);
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});
