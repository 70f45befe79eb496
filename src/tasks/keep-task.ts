import { mayBeRepeated } from '../core/begun-runs.ts';
import { describeBound, RETRY_WITHOUT_ROOM_MS } from '../core/ports/stored-results.ts';
import type { NewTask, ParkedScript, StoredTasks, Submission } from '../core/ports/stored-tasks.ts';
import { COMMAND_SOURCE } from '../core/ports/task-states.ts';
import { didYouMean } from '../core/read-options.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import type { TaskSettings } from './task-settings.ts';

/** The crib as the storing of tasks sees it. */
export interface KeepTaskPorts {
  /** Undefined without a store. */
  readonly tasks: Pick<StoredTasks, 'add' | 'park'> | undefined;
  settings(): TaskSettings;
  /** True if only workers may call tools of this source. */
  isForWorkers(source: string): boolean;
  /** A service that the tool needs and that another process would not have. */
  ownService(spec: ToolSpec): string | undefined;
  /** True if a task of the tool goes on where it was, instead of being repeated. */
  keepsJournal(spec: ToolSpec): boolean;
  now(): number;
  /** Called after a task was stored. */
  onKept(task: Pick<NewTask, 'id' | 'door'>): void;
}

/** Stores background calls that the outer gates have judged. */
export type KeepTask = (call: ToolCall, submission: Submission, script?: ParkedScript) => Promise<ToolResult>;

export function createKeepTask(ports: KeepTaskPorts): KeepTask {
  const { tasks } = ports;
  return async (call, submission, script) => {
    if (tasks === undefined) return refuse('unavailable', NO_STORE);
    const settings = ports.settings();
    const obstacle = obstacleOf(call, submission, { ...ports, settings });
    if (obstacle !== undefined) return failed(obstacle);
    const isOfCommand = script !== undefined && call.door === 'cli';
    const made = toTask(call, submission, { ...ports, settings });
    const task = isOfCommand ? { ...made, source: COMMAND_SOURCE } : made;
    try {
      const added = await (script === undefined ? tasks.add(task, settings) : tasks.park(task, script, settings));
      if (!added.ok) {
        const why = describeBound(added.broken, settings, 'background calls that have not ended');
        const message = `The background call of "${call.spec.name}" was not stored: ${why}. Wait until some have ended, or raise tasks.${added.broken}.`;
        return failed(toolError('rate_limited', message, { retryable: true, retryAfterMs: RETRY_WITHOUT_ROOM_MS }));
      }
      if (!added.isNew && submission.slot === undefined) return refuse('conflict', taken(task.id));
      if (added.isNew) ports.onKept(task);
      const expiresAt = Math.round(ports.now() + task.delayMs + task.lifetimeMs);
      return { ok: false, status: 'waiting', waiting: { for: 'task', id: added.id, expiresAt } };
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      const message = `The background call of "${call.spec.name}" was not stored, because the store is not available. Submit it again later.`;
      return failed(toolError('unavailable', message, { retryable: true, cause }));
    }
  };
}

const NO_STORE =
  'Background calls need a store. Pass "store" to createCrib, for example a path or "memory", or use a configuration.';

function taken(id: string): string {
  return `There is already a task with the id "${id}". Use another id.`;
}

type Checked = Pick<KeepTaskPorts, 'isForWorkers' | 'ownService' | 'keepsJournal' | 'now'> & {
  readonly settings: TaskSettings;
};

/** The reason why a call cannot run later, or in another process. */
function obstacleOf(call: ToolCall, { notify }: Submission, { ownService, settings }: Checked): ToolError | undefined {
  const { name } = call.spec;
  if (notify !== undefined && !Object.hasOwn(settings.webhooks, notify)) {
    const guess = didYouMean(notify, Object.keys(settings.webhooks));
    return toolError('invalid_input', `The webhook "${notify}" was not found in tasks.webhooks.${guess}`);
  }
  const service = ownService(call.spec);
  if (service === undefined) return undefined;
  const message = `"${name}" cannot be called in the background: it needs the service "${service}", which only this process has. Name the service in the configuration (services), so that every process has it.`;
  return toolError('unavailable', message);
}

function toTask(
  call: ToolCall,
  submission: Submission,
  { isForWorkers, keepsJournal, settings, now }: Checked,
): NewTask {
  const { approve: _approve, ...caller } = call.caller;
  const { call: options, lifetimeMs = settings.expireMs, ...rest } = submission;
  return {
    id: call.id,
    tool: call.spec.name,
    source: call.spec.source,
    profile: call.profile,
    caller,
    identifiedAt: now(),
    arguments: call[FACTS].came ?? call.input, // validated again when it runs
    call: options,
    door: call.door,
    isForWorkers: isForWorkers(call.spec.source),
    isRepeatable: mayBeRepeated(call.spec) || keepsJournal(call.spec),
    lifetimeMs,
    keepMs: settings.keepMs,
    ...rest,
  };
}

function refuse(code: ToolErrorCode, message: string): ToolResult {
  return failed(toolError(code, message));
}
