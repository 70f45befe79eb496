import type { Executor } from '../../core/executor.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { checkCommand, cureOfText } from './check-command.ts';
import { codeOf } from './own-code.ts';
import type { Commands } from './run-command.ts';
import type { ShellPorts } from './shell-kind.ts';
import { SHELL_RUN_SCHEMA, type ShellRun } from './shell-run.ts';

/** Runs programs with argument lists, in a sandbox if one is available. */
export function shellExecutor(ports: ShellPorts): Executor {
  const note = (run: ShellRun, spec: ToolSpec) => {
    ports.noteCode?.(spec, codeOf(run, spec, ports));
    return run;
  };
  let commands: Promise<Commands> | undefined;
  let isClosed = false;
  const load = async () => {
    const { createCommands } = await import('./run-command.ts');
    const loaded = createCommands(ports);
    if (isClosed) await loaded.close(); // before its first call, or while loading
    return loaded;
  };
  const loaded = () => {
    commands ??= load(); // loaded lazily by the first call
    return commands;
  };
  return {
    kind: 'shell',
    runSchema: SHELL_RUN_SCHEMA,
    cure: ({ command }) => (typeof command === 'string' ? cureOfText(command) : undefined),
    check: (run, spec) => checkCommand(note(run as ShellRun, spec), spec), // the schema was checked first
    runsFiles: (run, spec) => codeOf(run as ShellRun, spec, ports).length > 0, // as above
    precheck: async (call, run) => (await loaded()).precheck(call, note(run as ShellRun, call.spec)), // checked when the spec was loaded
    review: async (specs) => (await loaded()).review(specs),
    execute: async (call, run) => (await loaded()).run(call, note(run as ShellRun, call.spec)), // as above
    async close() {
      isClosed = true;
      await (await commands)?.close();
    },
  };
}
