import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { type Crib, createCrib } from '../../src/index.ts';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { type SqlEngine, sql, textOf } from '../../src/store/engines/sql-engine.ts';
import { createWorkshop, type Workshop } from '../doors/cli/workshop.ts';
import { type Ask, askThrough, execute } from '../doors/rest/served.ts';
import { CHAOS_KINDS, chaosModule } from './chaos-tools.ts';

/** The size of a run. */
interface ChaosOptions {
  /** The URL of the store; '' names a file of its own. */
  readonly url: string;
  readonly tasks: number;
  /** Processes to kill. */
  readonly kills: number;
  readonly workers: number;
}

/** An ended task, and how often its row came to an end. */
interface EndedTask {
  readonly tool: string;
  readonly outcome: string;
  readonly ends: number;
  readonly runs: number;
}

/** The record of a run. */
export interface ChaosReport {
  /** Ids that the server has confirmed. */
  readonly accepted: readonly string[];
  /** Every task in the store, by its id. */
  readonly ended: ReadonlyMap<string, EndedTask>;
  /** Ids of runs that belong to no task. */
  readonly strays: readonly string[];
}

/** Longest time for the last tasks to end; a process counts as dead after some ten seconds. */
const WITHIN = { timeout: 150_000, interval: 50 };
const CLIENTS = 4;
const OPERATOR = { id: 'operator', operator: true };

/** Submits tasks of all kinds to a server, kills the server and its workers at random, and starts them again. */
export async function runChaos({ url, tasks, kills, workers }: ChaosOptions): Promise<ChaosReport> {
  const place = openPlace(url);
  const { engine } = await openEngine({ url: place.url, env: {} });
  onTestFinished(() => engine.close());
  const server = await startServer(place.shop);
  const processes: Restarting[] = [server];
  for (let count = 0; count < workers; count++) processes.push(await startWorker(place.shop));
  await countEnds(engine);
  const approving = await startApprover(place.shop);

  const submitted = submitAll(server, tasks);
  const step = Math.floor(tasks / (kills + 1));
  for (let kill = 1; kill <= kills; kill++) {
    await vi.waitFor(() => atLeast(runsIn(place.log).length, kill * step), WITHIN);
    const killed = processes[Math.floor(Math.random() * processes.length)];
    await killed?.restart();
  }
  const accepted = await submitted;
  await vi.waitFor(async () => allDone(await engine.read(sql`SELECT state FROM toolcrib_tasks`)), WITHIN);
  await approving.stop();
  for (const { kill } of processes) await kill();
  return toReport(accepted, runsIn(place.log), await endedTasks(engine));
}

function openPlace(given: string) {
  const shop = createWorkshop();
  onTestFinished(shop.remove);
  const log = join(shop.folder, 'runs');
  const url = given === '' ? `sqlite:${join(shop.folder, 'crib.db')}` : given;
  const bounds = 'tasks: { concurrency: 4 }\nextensions: { approval: { maxTotal: 10000, maxPerCaller: 10000 } }';
  shop.write(
    'toolcrib.yaml',
    `sources: { own: { modules: ./tools } }\nstore: { url: ${JSON.stringify(url)} }\n${bounds}\n`,
  );
  shop.write('tools/chaos.mjs', chaosModule(log));
  shop.write('runs', '');
  return { shop, log, url };
}

/** A process that is killed and started again. */
interface Restarting {
  restart(): Promise<void>;
  kill(): Promise<void>;
}

async function startProcess(shop: Workshop, args: readonly string[], sign: RegExp) {
  const child = shop.start(args, { env: { TOOLCRIB_OPERATOR_TOKEN: TOKEN } });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.resume();
  let said = '';
  const found = await new Promise<string>((resolve, reject) => {
    void once(child, 'close').then(() => reject(new Error(`it ended: ${said}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
      const [, part] = sign.exec(said) ?? [];
      if (part !== undefined) resolve(part);
    });
  });
  return { child, found };
}

const TOKEN = 'a-token-of-our-own-choice';

async function killHard(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function startWorker(shop: Workshop): Promise<Restarting> {
  const start = () => startProcess(shop, ['worker'], /(runs background calls)/);
  let worker = await start();
  return {
    async restart() {
      await killHard(worker.child);
      worker = await start();
    },
    kill: () => killHard(worker.child),
  };
}

/** A server, and how to ask the one that runs now. */
async function startServer(shop: Workshop): Promise<Restarting & { ask: Ask }> {
  const start = async () => {
    const { child, found } = await startProcess(shop, ['serve', '--port', '0'], /listens on (\S+)/);
    return { child, ask: askThrough((request) => fetch(request), found) };
  };
  let running = start();
  await running;
  return {
    async restart() {
      const { child } = await running;
      await killHard(child);
      running = start();
      await running;
    },
    kill: async () => killHard((await running).child),
    ask: async (path, asking) => (await running).ask(path, asking),
  };
}

/** Submits tasks until the server has confirmed this many. */
async function submitAll({ ask }: { readonly ask: Ask }, tasks: number): Promise<readonly string[]> {
  const accepted: string[] = [];
  const kinds = Object.keys(CHAOS_KINDS);
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < tasks) {
      const number = next++;
      const submit = async (): Promise<void> => {
        const { status, json } = await execute(ask, kinds[number % kinds.length] ?? '', { number }, { async: true });
        if (status !== 202) throw new Error(`${status}: ${JSON.stringify(json)}`);
        accepted.push(json.waiting.id);
      };
      await vi.waitFor(submit, WITHIN); // the server may have been killed before it answered
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return accepted;
}

/** Approves every request, until it is stopped. */
async function startApprover(shop: Workshop): Promise<{ stop(): Promise<void> }> {
  const crib: Crib = await createCrib({ configFile: shop.folder });
  let isStopped = false;
  const approve = async (): Promise<void> => {
    for (const { id } of await crib.approvals.list({ state: 'waiting' }))
      await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    if (!isStopped) throw new Error('not stopped');
  };
  const running = vi.waitFor(approve, { timeout: 3_600_000, interval: 50 });
  running.catch(() => undefined); // `stop` rejects with it
  const stop = async (): Promise<void> => {
    isStopped = true;
    await running;
    await crib.close();
  };
  onTestFinished(() => void stop().catch(() => undefined));
  return { stop };
}

function runsIn(log: string): readonly string[] {
  return readFileSync(log, 'utf8').split('\n').slice(0, -1);
}

function atLeast(count: number, least: number): void {
  if (count < least) throw new Error(`${count} of ${least} runs`);
}

function allDone(rows: readonly { readonly [column: string]: unknown }[]): void {
  const open = rows.filter(({ state }) => state !== 'done').map(({ state }) => state);
  if (open.length > 0) throw new Error(`${open.length} of ${rows.length} tasks have not ended: ${[...new Set(open)]}`);
}

/** Adds a trigger that counts how often the row of a task comes to an end. */
async function countEnds(engine: SqlEngine): Promise<void> {
  const insert = 'INSERT INTO ends (id) VALUES (new.id)';
  const when = "AFTER UPDATE ON toolcrib_tasks FOR EACH ROW WHEN (new.state = 'done')";
  const trigger =
    engine.name === 'postgres'
      ? [
          `CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${insert}; RETURN new; END'`,
          `CREATE TRIGGER note_end ${when} EXECUTE FUNCTION note_end()`,
        ]
      : [`CREATE TRIGGER note_end ${when} BEGIN ${insert}; END`];
  await engine.write(['CREATE TABLE ends (id TEXT)', ...trigger].map((text) => ({ sql: text, params: [] })));
}

/** The tasks in the store with the number of their ends. */
async function endedTasks(engine: SqlEngine) {
  const rows = await engine.read(sql`
    SELECT id, tool, outcome, (SELECT count(*) FROM ends WHERE ends.id = toolcrib_tasks.id) AS ends FROM toolcrib_tasks`);
  return rows.map((row) => ({
    id: textOf(row, 'id'),
    tool: textOf(row, 'tool'),
    outcome: textOf(row, 'outcome'),
    ends: Number(row.ends),
  }));
}

function toReport(
  accepted: readonly string[],
  lines: readonly string[],
  rows: readonly (Omit<EndedTask, 'runs'> & { readonly id: string })[],
): ChaosReport {
  const runs = Map.groupBy(lines, (line) => line.split(' ')[0] ?? '');
  const ended = new Map(rows.map(({ id, ...row }) => [id, { ...row, runs: runs.get(id)?.length ?? 0 }]));
  return { accepted, ended, strays: [...runs.keys()].filter((id) => !ended.has(id)) };
}
