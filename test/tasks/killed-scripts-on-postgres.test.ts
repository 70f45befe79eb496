import { describe, it } from 'vitest';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { killAfterApproval, killableServer, killWhileWaiting } from './killed-script.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`a script on ${title} whose server is killed by kill -9`, () => {
  const server = sharedPostgres();

  it('while it waits for approval finishes after it, and makes each call once', async () =>
    killWhileWaiting(killableServer(await server.createStore()), false));

  it('while the call after the approved one runs goes on, and none is made twice', async () =>
    killAfterApproval(killableServer(await server.createStore()), true));
});
