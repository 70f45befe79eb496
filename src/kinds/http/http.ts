import type { Executor } from '../../core/executor.ts';
import { checkHttpRun } from './check-run.ts';
import type { HttpClient, HttpPorts } from './http-client.ts';
import { HTTP_RUN_SCHEMA, type HttpRun } from './http-run.ts';

/** Runs tools that are HTTP requests. What sends them is loaded by the first call. */
export function httpExecutor(ports: HttpPorts): Executor {
  let client: HttpClient | undefined;
  let isClosed = false;
  const load = async (): Promise<HttpClient> => {
    const { createHttpClient } = await import('./http-client.ts');
    client ??= createHttpClient(ports);
    if (isClosed) client.close(); // while it was being loaded
    return client;
  };
  return {
    kind: 'http',
    runSchema: HTTP_RUN_SCHEMA,
    check: (run, spec) => checkHttpRun(run as HttpRun, spec), // its schema has been seen to fit
    async execute(call, run) {
      return (client ?? (await load())).send(call, run as HttpRun); // checked when the spec was let in
    },
    async close() {
      isClosed = true;
      client?.close();
    },
  };
}
