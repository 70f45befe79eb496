import { describe, it } from 'vitest';
import { killAfterApproval, killableServer, killWhileWaiting, killWhileWaitingOverMcp } from './killed-script.ts';

const STORE = 'sqlite:crib.db';

describe('a script whose server is killed by kill -9', { timeout: 60_000 }, () => {
  it('while it waits for approval finishes after it, and makes each call once', () =>
    killWhileWaiting(killableServer(STORE), false));

  it('while it waits as a background call, likewise', () => killWhileWaiting(killableServer(STORE), true));

  it('while it waits over MCP, likewise: the same call sent again gets its result', () =>
    killWhileWaitingOverMcp(killableServer(STORE)));

  it('while the call after the approved one runs goes on: that call has an unknown outcome, and none is made twice', () =>
    killAfterApproval(killableServer(STORE), false));
});
