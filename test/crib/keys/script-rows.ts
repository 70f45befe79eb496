import { ALICE, calls, outcomeOf, type Row, type Show, tool, type Written } from './rows.ts';

const ERASE = { ...tool(), name: 'erase', effects: { destructive: true } };

const script = (code: string, settings: Written): Written => ({
  tools: [tool(), tool({}, 'together'), ERASE, { name: 'run', description: 'Runs', run: { kind: 'script', code } }],
  executors: { script: settings },
});

/** A script with the usual limits, and with one limit that it breaks. */
function limit(key: string, value: number, code: string): Row {
  const [before, after] = [script(code, {}), script(code, { [key]: value })];
  return { key: `executors.script.${key}`, before, after, show: calls('run', [ALICE]) };
}

/** A short script beside one that does not end. */
const beside: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const over = new AbortController();
  const begun = Promise.withResolvers<void>();
  const options = { signal: over.signal, onProgress: () => begun.resolve() };
  const endless = chest.call('run', { endless: true }, options);
  await begun.promise;
  const short = await chest.call('run', {}, { timeoutMs: 2500 });
  over.abort();
  return [outcomeOf(short), outcomeOf(await endless)];
};
const WAITING = 'if (input.endless) { console.log(1); await tools.echo() } while (input.endless); return 1';

/** A script that reads more than a megabyte before a call that waits for approval. */
const waits: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  return outcomeOf(await chest.call('run', {}, { park: true }));
};
const LARGE = `await tools.echo({ text: 'x'.repeat(600000) }); await tools.echo({ text: 'x'.repeat(600000) });
  return tools.erase()`;

export const scriptRows: readonly Row[] = [
  limit('cpuMs', 1, 'for (let i = 0; i < 3e6; i++); return 1'),
  limit('memoryMb', 16, 'return new Uint8Array(16e6).length'),
  limit('stackKb', 32, 'let n = 0; const f = () => { n++; f() }; try { f() } catch {} return n'),
  limit('maxCalls', 1, 'await tools.echo(); return tools.echo()'),
  limit('parallelCalls', 1, 'return Promise.all([tools.together(), tools.together()])'),
  limit('maxOutputBytes', 10, 'return "x".repeat(100)'),
  {
    key: 'executors.script.journalMb',
    before: script(LARGE, { journalMb: 2 }),
    after: script(LARGE, { journalMb: 1 }),
    show: waits,
  },
  {
    key: 'executors.script.concurrency',
    before: script(WAITING, {}),
    after: script(WAITING, { concurrency: 1 }),
    show: beside,
  },
];
