import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { type EmptyMachine, type MachineSize, prepareMachine } from './empty-machine.ts';
import { createMachine, type ScriptMachine } from './script-machine.ts';
import {
  type CompiledMachine,
  READY,
  type ScriptEnd,
  type ScriptTurn,
  type ToScriptThread,
} from './script-messages.ts';

const port = parentPort;
const wasmModule = workerData as CompiledMachine; // set by script-threads.ts, which starts this file
let machine: ScriptMachine | undefined;
let size: MachineSize | undefined;
/** The machine for the next script. It is made when a script has ended, so that the next one need not wait for it. */
let spare: Promise<EmptyMachine> | undefined;

process.on('warning', () => {}); // removing types is marked as experimental

port?.on('message', async (message: ToScriptThread) => {
  if (message.kind === 'start') {
    const empty = await takeMachine(message.limits);
    machine = createMachine(empty, { script: message, strip: stripTypes });
    post(machine.start());
  } else if (message.kind === 'discard') discard();
  else if (machine !== undefined) post(machine.answer(message.answers));
});

port?.postMessage(READY);

const SYNTAX_ERRORS: readonly unknown[] = ['ERR_INVALID_TYPESCRIPT_SYNTAX', 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'];

/** Code that is nested too deeply breaks the parser of TypeScript for good: the thread must end, because the next script needs it. */
function stripTypes(code: string): string | ScriptEnd {
  try {
    return stripTypeScriptTypes(code);
  } catch (cause) {
    const { code, message, stack } = cause as NodeJS.ErrnoException; // Node throws nothing else
    if (!SYNTAX_ERRORS.includes(code)) return { kind: 'stack' };
    const [, line] = /^:(\d+)/.exec(stack ?? '') ?? [];
    return { kind: 'syntax', message: line === undefined ? message : `${message} (line ${line})` };
  }
}

function takeMachine(wanted: MachineSize): Promise<EmptyMachine> {
  const isFit = size?.memoryMb === wanted.memoryMb && size.stackKb === wanted.stackKb;
  const taken = isFit ? spare : undefined;
  size = wanted;
  spare = undefined;
  return taken ?? prepareMachine(wasmModule, wanted);
}

function post(turn: ScriptTurn): void {
  port?.postMessage(turn);
  if (turn.end !== undefined) discard();
}

function discard(): void {
  machine = undefined;
  if (size === undefined) return;
  spare = prepareMachine(wasmModule, size);
  spare.catch(() => {}); // the next script gets the error
}
