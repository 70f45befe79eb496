import { readFileSync } from 'node:fs';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { importFailure } from './import-module.ts';
import { readExports } from './module-exports.ts';
import type { ProbeMessage, ProbeRequest } from './module-probe-worker.ts';

/** Imports the requested modules and reports the results. Runs in a thread that may be ended at any moment. */
function serve(port: MessagePort): void {
  const say = (message: ProbeMessage) => port.postMessage(message);
  const exit = process.exit.bind(process);
  let hasFailed = false;
  process.on('uncaughtExceptionMonitor', () => {
    hasFailed = true; // Node calls process.exit then, and reports the error by another port, which may be slower
  });
  process.exit = (code) => {
    if (!hasFailed) say({ kind: 'exited', code: String(code ?? process.exitCode ?? 0) });
    return exit(code);
  };
  port.on('message', (request: ProbeRequest) => {
    port.unref(); // an import that waits only for itself then ends the thread instead of hanging it
    tryOut(request).then((message) => {
      port.ref();
      say(message);
    });
  });
  say({ kind: 'ready' });
}

async function tryOut({ url, factories, keepsClasses }: ProbeRequest): Promise<ProbeMessage> {
  try {
    await readExports(await import(url), factories, keepsClasses ? undefined : new WeakMap());
    await new Promise(setImmediate); // unhandled rejections are reported in this turn
    return { kind: 'passed' };
  } catch (cause) {
    return { kind: 'failed', reason: importFailure(cause, url, (path) => readFileSync(path, 'utf8')) };
  }
}

if (parentPort !== null) serve(parentPort);
