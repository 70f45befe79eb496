import type { Kind } from '../../config/records.ts';
import { object, whole } from '../../config/schema-node.ts';
import type { BuiltInExecutorsConfig } from '../../config/types/guards.ts';
import { idleClock } from '../../system/clock.ts';

/** The configuration of the kind `script`. */
export type ScriptConfig = NonNullable<BuiltInExecutorsConfig['script']>;

/** Scripts that call tools. The sandbox is loaded with the first script. */
export const scriptKind: Kind<'script', ScriptConfig> = {
  kind: 'script',
  pathFields: ['file'],
  localFields: ['file'],
  runsOwnCode: true,
  failsWith: 'nothing',
  keepsJournal: true,
  options: object<ScriptConfig>('Scripts that call tools.', {
    cpuMs: whole(
      'Time in which a script itself may compute; waiting for tools does not count. Default 5000.',
      1,
      600_000,
    ),
    memoryMb: whole('Memory of a script; default 32, at least 16.', 16, 2048),
    stackKb: whole('Stack of a script; default 256.', 32, 1024),
    maxCalls: whole('Most calls and searches of one script; default 200.'),
    parallelCalls: whole('Most calls of one script at the same time; further ones wait. Default 20.'),
    maxOutputBytes: whole('Most bytes of the result, and of the console output, of a script; default 1000000.'),
    journalMb: whole(
      'Most megabytes of results that are kept so that a script can wait for an approval and go on after a crash; default 16. A script with more goes on, but can no longer wait.',
    ),
    concurrency: whole('Most scripts at the same time; further ones wait. Default 4.'),
  }),
  async open({ folder, clock, options, noteCode }) {
    const { scriptExecutor } = await import('./script-executor.ts');
    return { executor: scriptExecutor({ folder, clock, idleClock, options, noteCode }) };
  },
};
