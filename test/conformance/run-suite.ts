import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, delimiter, dirname, extname, join } from 'node:path';
import { build } from 'esbuild';
import { parse } from 'yaml';
import type { Check, Run, Side } from './verdicts.ts';

const ROOT = join(import.meta.dirname, '../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance');
/** Our client in one file, which starts faster than its sources. */
const CLIENT_FILE = 'node_modules/.cache/toolcrib-conformance/client.mjs';
/** The suite takes it apart at every space, so there are no paths of this machine in it. */
const CLIENT = `node ${CLIENT_FILE}`;
/** Compiled code is kept between processes: there are many, and starting is most of what they do. */
const COMPILED = join(ROOT, 'node_modules/.cache/toolcrib-cli');

/** The revisions that the suite has requirements for. */
export const ERAS = ['2026-07-28', '2025-11-25'] as const;

/** What a revision requires, and what the suite runs besides. */
interface Requirements {
  readonly server: readonly string[];
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: Side }[];
}

function scenariosOf(era: string, side: Side): readonly string[] {
  const required: Requirements = parse(readFileSync(join(SUITE, `requirements/${era}.yaml`), 'utf8'));
  const others = required.not_scored.filter(({ leg }) => leg === side);
  return [...required[side], ...others.map(({ scenario }) => scenario)];
}

/** How the suite is run. */
export interface SuiteRun {
  readonly era: string;
  /** Where results are left. */
  readonly folder: string;
  /** The suite waits half a second for some answers; on a busy machine a second try decides. */
  isGood(run: Run): boolean;
}

/** Runs all scenarios for servers against whatever listens at an address. */
export async function runServerScenarios(url: string, suite: SuiteRun): Promise<readonly Run[]> {
  const { era, folder, isGood } = suite;
  const output = join(folder, `server-${era}`);
  const { said } = await runSuite(['server', '--url', url, '--requirements', era, '-o', output]);
  const runs: Run[] = [];
  for (const scenario of scenariosOf(era, 'server')) {
    const [file] = globSync(`server-${scenario}-[0-9][0-9][0-9][0-9]-*/checks.json`, { cwd: output });
    const checks = file === undefined ? [notRun(said)] : readChecks(join(output, file));
    const run: Run = { side: 'server', era, scenario, checks };
    runs.push(isGood(run) ? run : { ...run, checks: await runScenario(['server', '--url', url], scenario, suite) });
  }
  return runs;
}

/** Makes the client that the scenarios for clients look at, with the file that it loads to compile schemas. */
export async function bundleClient(): Promise<void> {
  const name = basename(CLIENT_FILE, extname(CLIENT_FILE));
  await build({
    absWorkingDir: ROOT,
    entryPoints: { [name]: 'test/conformance/client-command.ts', 'ajv-classes': 'src/schemas/ajv-classes.ts' },
    outdir: dirname(CLIENT_FILE),
    outExtension: { '.js': extname(CLIENT_FILE) },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
}

/** Runs all scenarios for clients against our client, as many at once as there are processors: each starts programs. */
export async function runClientScenarios(suite: SuiteRun): Promise<readonly Run[]> {
  const { era, isGood } = suite;
  const waiting = [...scenariosOf(era, 'client').entries()];
  const runs: Run[] = [];
  const run = async (scenario: string): Promise<Run> => {
    const checks = await runScenario(['client', '--command', CLIENT], scenario, suite);
    return { side: 'client', era, scenario, checks };
  };
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, scenario] = next;
      const first = await run(scenario);
      runs[index] = isGood(first) ? first : await run(scenario);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return runs;
}

async function runScenario(
  target: readonly string[],
  scenario: string,
  { era, folder }: SuiteRun,
): Promise<readonly Check[]> {
  const output = mkdtempSync(join(folder, `${scenario.replace('/', '-')}-${era}-`));
  const options = ['--scenario', scenario, '--spec-version', era, '--force', '--timeout', '20000', '-o', output];
  const { code, said } = await runSuite([...target, ...options]);
  const [file] = globSync('**/checks.json', { cwd: output });
  if (file === undefined) return [notRun(said)];
  const checks = readChecks(join(output, file));
  const isToldWhy = checks.some(({ status }) => status === 'FAILURE' || status === 'WARNING');
  if (code === 0 || isToldWhy) return checks;
  return [...checks, { id: 'ended-well', status: 'FAILURE', errorMessage: 'a program failed or took too long' }];
}

function readChecks(file: string): readonly Check[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function notRun(said: string): Check {
  return { id: 'scenario-was-run', status: 'FAILURE', errorMessage: `the suite says: ${said.slice(-500)}` };
}

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

function runSuite(args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [join(SUITE, 'dist/index.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: ROOT,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      NODE_COMPILE_CACHE: COMPILED,
    },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, said }));
  });
}
