import { describe, it, onTestFinished } from 'vitest';
import { startServer } from '../../src/doors/rest/start-server.ts';
import { expectSoundAnswers, expectSoundConnections } from '../doors/rest/fuzz.ts';
import { serve } from '../doors/rest/served.ts';

describe('never a crash, never an internal detail, over a long run', () => {
  it('for any request', async () => {
    await expectSoundAnswers(await serve(), 10_000);
  });

  it('for any request with access', async () => {
    await expectSoundAnswers(await serve({ access: true }), 5000);
  });

  it('for any body', async () => {
    const { crib } = await serve();
    const server = await startServer(crib, { port: 0, headersTimeoutMs: 2000 });
    onTestFinished(() => server.close());
    await expectSoundConnections(server.port, 5000);
  });
});
