import { ok } from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Executor } from '../core/executor.ts';
import { messageOf } from '../core/tool-error.ts';
import type { ContractTest } from './executor-contract.ts';
import type { BadRun, ContractCase, ExecutorSubject } from './executor-subject.ts';
import { sayNothing, withExecutor } from './one-call.ts';
import { testSpec } from './test-call.ts';

/** What an executor says about runs before anything runs. */
export function runLaws(subject: ExecutorSubject): readonly ContractTest[] {
  return [
    {
      name: 'it has a kind, a schema of its runs and a way to execute them',
      run: () => withExecutor(subject, requireShape),
    },
    {
      name: 'it finds nothing wrong with runs that work',
      run: () =>
        withExecutor(subject, (executor) => {
          for (const work of subject.works) {
            const issues = issuesOf(executor, work);
            ok(issues.length === 0, `A run that works is refused: ${issues.join('; ')}`);
          }
        }),
    },
    ...subject.badRuns.map((bad) => badRunLaw(subject, bad)),
  ];
}

function badRunLaw(subject: ExecutorSubject, bad: BadRun): ContractTest {
  return {
    name: `it refuses a run before it is called: ${bad.what}`,
    run: () =>
      withExecutor(subject, (executor) => {
        const issues = issuesOf(executor, bad);
        ok(issues.length > 0, 'Neither runSchema nor check() finds anything wrong.');
        for (const issue of issues) sayNothing(issue, subject.unspeakable ?? []);
      }),
  };
}

function requireShape({ kind, runSchema, execute, check, close }: Executor): void {
  ok(typeof kind === 'string' && /^[A-Za-z][\w-]*$/.test(kind), `kind is no plain word: ${JSON.stringify(kind)}`);
  ok(typeof execute === 'function', 'execute is no function.');
  ok(check === undefined || typeof check === 'function', 'check is no function.');
  ok(close === undefined || typeof close === 'function', 'close is no function.');
  ok(runSchema?.type === 'object', 'runSchema must describe an object: { type: "object", ... }.');
  compile(runSchema);
}

/** What the executor itself says against a run, in the order in which a crib asks. */
function issuesOf(executor: Executor, { run, spec }: Pick<ContractCase, 'run' | 'spec'>): readonly string[] {
  const validate = compile(executor.runSchema);
  if (!validate({ ...run }))
    return (validate.errors ?? []).map(({ instancePath, message }) => `run${instancePath} ${message}`);
  const whole = testSpec({ run, ...(spec !== undefined && { spec }) });
  const issues = executor.check?.(run, whole) ?? [];
  ok(
    Array.isArray(issues) && issues.every((issue) => typeof issue === 'string' && issue !== ''),
    'check() must return sentences.',
  );
  return issues;
}

function compile(schema: Executor['runSchema']) {
  try {
    return new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema);
  } catch (cause) {
    throw new Error(`runSchema is no JSON Schema: ${messageOf(cause)}`, { cause });
  }
}
