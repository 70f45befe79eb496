import { keepBoundNodes } from '../config/policy-schema.ts';
import { address, flag, mapOf, object, text, typed, whole } from '../config/schema-node.ts';
import type { TasksConfig } from '../config/types/tasks.ts';
import type { KeepBounds } from '../core/ports/stored-results.ts';

const DAY_MS = 86_400_000;

/** The bounds of open tasks, and of the results of ended ones. */
const DEFAULT_BOUNDS: KeepBounds = {
  maxPerCaller: 10_000,
  maxBytesPerCaller: 64_000_000,
  maxTotal: 100_000,
  maxTotalBytes: 512_000_000,
};

/** The section `tasks` of a configuration. */
export const tasksNode = typed(
  'TasksConfig',
  object('Background calls.', {
    runHere: flag('This process runs background calls, if it is a server; default true. Otherwise workers run them.'),
    concurrency: whole('Maximum number of background calls that a process runs at once; default 8.'),
    maxIdentityMs: whole(
      'Age of an identity above which a background call must confirm it; default one day. An API key is looked up at every call; a token cannot be looked up, so an older one is refused.',
    ),
    expireMs: whole('Time in which a background call must begin; default one day.'),
    keepMs: whole('Time to keep an ended background call and its result; default one day.'),
    ...keepBoundNodes('background calls that have not ended, and results of ended ones', DEFAULT_BOUNDS),
    webhooks: mapOf(
      typed(
        'TaskWebhookConfig',
        object(
          'Gets a signed message when a background call that names it ends.',
          {
            url: address('The address of the webhook.'),
            secret: text('The name of the secret that signs the message.', { use: 'secretName' }),
          },
          ['url', 'secret'],
        ),
      ),
      'Webhooks by name.',
    ),
  }),
);

/** The settings of background calls, with defaults. */
export interface TaskSettings extends KeepBounds {
  readonly runHere: boolean;
  readonly concurrency: number;
  readonly maxIdentityMs: number;
  readonly expireMs: number;
  readonly keepMs: number;
  readonly webhooks: NonNullable<TasksConfig['webhooks']>;
}

/** Completes the settings of a configuration. */
export function taskSettings(config: TasksConfig = {}): TaskSettings {
  return {
    runHere: true,
    concurrency: 8,
    maxIdentityMs: DAY_MS,
    expireMs: DAY_MS,
    keepMs: DAY_MS,
    webhooks: {},
    ...DEFAULT_BOUNDS,
    ...config,
  };
}
