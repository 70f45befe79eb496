import { stripTypeScriptTypes } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { createMachine, type ScriptMachine } from './script-machine.ts';
import { type CompiledMachine, READY, type ScriptTurn, type ToScriptThread } from './script-messages.ts';

const port = parentPort;
const wasmModule = workerData as CompiledMachine; // set by script-threads.ts, which starts this file
let machine: ScriptMachine | undefined;

process.on('warning', () => {}); // removing types is marked as experimental

port?.on('message', async (message: ToScriptThread) => {
  if (message.kind === 'start') {
    machine = await createMachine(wasmModule, message, (code) => stripTypeScriptTypes(code));
    return post(machine.start());
  }
  if (machine !== undefined) post(machine.answer(message.answers));
});

port?.postMessage(READY);

function post(turn: ScriptTurn): void {
  if (turn.end !== undefined) {
    machine?.close();
    machine = undefined;
  }
  port?.postMessage(turn);
}
