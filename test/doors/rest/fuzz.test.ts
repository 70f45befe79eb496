import { describe, it, onTestFinished } from 'vitest';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import { expectSoundAnswers, expectSoundConnections } from './fuzz.ts';
import { serve } from './served.ts';

describe('never a crash, never an internal detail', () => {
  it('for any request', async () => {
    await expectSoundAnswers(await serve(), 300);
  });

  it('for any body', async () => {
    const { crib } = await serve();
    const server = await startServer(crib, { port: 0, headersTimeoutMs: 2000 });
    onTestFinished(() => server.close());
    await expectSoundConnections(server.port, 200);
  });
});
