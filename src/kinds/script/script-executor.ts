import { hash, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { KindPorts } from '../../config/records.ts';
import { deferRun } from '../../core/begun-runs.ts';
import type { Executor } from '../../core/executor.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { Journal, ScriptWait } from '../../core/ports/stored-journals.ts';
import { FACTS, type ToolCall } from '../../core/tool-call.ts';
import { messageOf, type ToolError, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import type { Run } from '../../core/tool-spec.ts';
import { argumentsHash, definitionHash } from '../../specs/hashes.ts';
import { runScript } from './run-script.ts';
import { ScriptJournal, takenOver } from './script-journal.ts';
import type { ScriptConfig } from './script-kind.ts';
import { boundsOf } from './script-limits.ts';
import { LONGEST_CODE } from './script-messages.ts';
import { toScriptResult } from './script-result.ts';
import { createScriptSlots, scriptsAround } from './script-slots.ts';
import { createScriptThreads } from './script-threads.ts';

/** The `run` of a script: its code, a file, or the code in the arguments of the call (`execute_script`). */
interface ScriptRun extends Run {
  readonly kind: 'script';
  readonly code?: string;
  readonly file?: string;
  readonly codeFrom?: 'input';
}

const RUN_SCHEMA = {
  type: 'object',
  properties: {
    kind: { const: 'script' },
    code: { type: 'string', minLength: 1, maxLength: LONGEST_CODE },
    file: { type: 'string', minLength: 1 },
    codeFrom: { const: 'input' },
    folder: { type: 'string', minLength: 1 },
  },
  additionalProperties: false,
} as const;

/** Options for running scripts. */
export interface ScriptPorts extends Pick<KindPorts, 'folder'> {
  readonly clock: Clock;
  /** Its timers do not keep the process alive. */
  readonly idleClock: Clock;
  options(): Partial<ScriptConfig>;
  noteCode?: KindPorts['noteCode'] | undefined;
}

/** Runs scripts in QuickJS, each on a thread and in a machine of its own. They reach nothing but the tools of their caller. */
export function scriptExecutor({ folder, clock, idleClock, options, noteCode }: ScriptPorts): Executor {
  const threads = createScriptThreads(idleClock);
  const slots = createScriptSlots();
  const fileOf = ({ file = '' }: ScriptRun) => (isAbsolute(file) ? file : resolve(folder, file));
  return {
    kind: 'script',
    runSchema: RUN_SCHEMA,
    check(run, spec) {
      const { code, file, codeFrom } = run as ScriptRun; // checked by the schema above
      const count = [code, file, codeFrom].filter((part) => part !== undefined).length;
      if (count !== 1) return ['run must have either code or file'];
      if (file !== undefined) noteCode?.(spec, [fileOf(run as ScriptRun)]);
      return [];
    },
    runsFiles: (run) => (run as ScriptRun).file !== undefined, // as above
    async execute(call, run) {
      const deferred = deferRun(call);
      const given = run as ScriptRun; // the pipeline selected the executor by kind
      if (given.codeFrom !== undefined && scriptsAround(call) > 0) return failed(ofAnotherScript(call));
      const bounds = boundsOf(options(), call);
      if ('code' in bounds) return failed(bounds);
      const { limits, most } = bounds;
      const read = await readScript(call, given, fileOf);
      if ('error' in read) return failed(read.error);
      call[FACTS].program = hash('sha256', read.code);
      const free = await slots.take(call, most);
      if (typeof free !== 'function') return failed(free);
      try {
        const thread = await threads.take().catch(toUnavailable);
        if ('code' in thread) return failed(thread);
        const journal = await openJournal(call, { ...read, maxBytes: limits.journalMb * 1_000_000 }, clock);
        const isRefused = journal !== undefined && 'code' in journal;
        if ((isRefused && journal.retryable) || !deferred.begin()) {
          thread.release();
          if (isRefused) return failed(journal);
          throw call.signal.reason; // cancelled while it waited
        }
        if (isRefused) {
          thread.release();
          return failed(journal);
        }
        const { seed, now } = journal?.start ?? { seed: randomInt(2 ** 32), now: Math.floor(clock.now()) };
        const ended = await runScript(call, { script: { ...read, limits, seed, now }, thread, clock, journal });
        if ('code' in ended) return failed(ended);
        if ('batch' in ended) return waitFor(call, ended);
        const { output } = call.spec;
        const isFromInput = given.codeFrom !== undefined;
        return toScriptResult(ended.end, { lines: ended.lines, limits, output, isFromInput });
      } finally {
        free();
      }
    },
    close: () => threads.close(),
  };
}

/** The parts of a script that its journal is bound to, and the size of the journal. */
interface Journaled {
  readonly code: string;
  readonly input: JsonObject;
  readonly maxBytes: number;
}

/** The journal of a script; undefined if the script cannot wait, an error if it cannot be continued. */
async function openJournal(
  call: ToolCall,
  { code, input, maxBytes }: Journaled,
  clock: Clock,
): Promise<ScriptJournal | ToolError | undefined> {
  const { journal: port, approval } = call[FACTS];
  if (port === undefined) return undefined;
  const pins = { definition: definitionHash(call.spec), code: hash('sha256', code), input: argumentsHash(input) };
  const { saved, stored } = port;
  if (saved !== undefined)
    return whyNotContinued(saved, pins) ?? new ScriptJournal(call, port, { start: saved, maxBytes });
  const begin = { seed: randomInt(2 ** 32), now: Math.floor(clock.now()) };
  const start = { ...begin, ...pins, ...(approval !== undefined && { approval }) };
  try {
    if ((await stored?.begin(start)) === false) return takenOver();
  } catch (cause) {
    const message = 'The script was not run: the store with its journal is not available.';
    return toolError('unavailable', message, { retryable: true, cause });
  }
  return new ScriptJournal(call, port, { start, maxBytes });
}

/** The reason why a script cannot be continued. */
function whyNotContinued(saved: Journal, pins: Pick<Journal, 'definition' | 'code' | 'input'>): ToolError | undefined {
  if (saved.isDropped === true)
    return toolError(
      'unknown_outcome',
      'The outcome of the script is unknown: its process ended, and it cannot be continued, because its results were too large to keep (executors.script.journalMb).',
    );
  const isOther = (key: keyof typeof pins) => saved[key] !== pins[key];
  const what = isOther('code') ? 'code' : isOther('input') ? 'input' : undefined;
  // A script that was approved is continued only as it was approved.
  const changed = what ?? (saved.approval !== undefined && isOther('definition') ? 'definition' : undefined);
  if (changed === undefined) return undefined;
  return toolError('conflict', `The script cannot be continued: its ${changed} was changed meanwhile. Start it again.`);
}

/** Leaves the wait with the call: the crib stores it. */
function waitFor(call: ToolCall, wait: ScriptWait): ToolResult {
  const { journal } = call[FACTS];
  if (journal !== undefined) journal.wait = wait;
  return {
    ok: false,
    status: 'waiting',
    waiting: { for: 'approval', id: wait.approvalId, expiresAt: wait.expiresAt },
  };
}

/** A script that starts further ones would multiply its limits. */
function ofAnotherScript({ spec }: ToolCall): ToolError {
  return toolError('denied', `A script cannot call "${spec.name}". Put all the code into one script.`);
}

function toUnavailable(cause: unknown): ToolError {
  return toolError('unavailable', 'Scripts cannot run: their sandbox did not start.', { cause });
}

type ReadScript = { readonly code: string; readonly input: JsonObject } | { readonly error: ToolError };

async function readScript(
  { input, spec }: ToolCall,
  run: ScriptRun,
  fileOf: (run: ScriptRun) => string,
): Promise<ReadScript> {
  if (run.codeFrom === 'input') {
    const { code, input: given = {} } = input as { readonly code: string; readonly input?: JsonObject }; // checked by its schema
    return { code, input: given };
  }
  if (run.code !== undefined) return { code: run.code, input };
  try {
    const code = await readFile(fileOf(run), 'utf8');
    if (code.length <= LONGEST_CODE) return { code, input };
    const message = `"${spec.name}" cannot be called: its file has more than ${LONGEST_CODE} characters.`;
    return { error: toolError('unavailable', message) };
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? messageOf(cause); // of node:fs; the path stays unsaid
    return {
      error: toolError('unavailable', `"${spec.name}" cannot be called: its file cannot be read (${reason}).`, {
        cause,
      }),
    };
  }
}
