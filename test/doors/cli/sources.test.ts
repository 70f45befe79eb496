import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startModern } from '../../kinds/mcp/http-servers.ts';
import { serverOf } from '../../kinds/mcp/upstream.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

function workshopWith(sources: object): Workshop {
  const workshop = createWorkshop({ 'toolcrib.yaml': JSON.stringify({ sources }) });
  onTestFinished(() => workshop.remove());
  return workshop;
}

it('a server whose list is known and that is gone is not said to be ready', async () => {
  const server = await startModern();
  const workshop = workshopWith({ far: { mcp: { url: server.url } } });
  expect(await workshop.json(['sources'])).toMatchObject({ sources: [{ name: 'far', state: 'ready' }] });
  await server.stop();
  expect(await workshop.json(['sources'])).toMatchObject({
    sources: [{ name: 'far', state: 'down', reason: expect.stringContaining('ECONNREFUSED') }],
  });
  expect((await workshop.run(['sources'])).stdout).toMatch(/far +down .*ECONNREFUSED/);
});

it('a program whose list is known and that does not start any more is not said to be ready', async () => {
  const workshop = createWorkshop();
  onTestFinished(() => workshop.remove());
  const sources = { near: { mcp: serverOf('absent.ts', [join(workshop.folder, 'absent')]) } };
  workshop.write('toolcrib.yaml', JSON.stringify({ sources }));
  expect(await workshop.json(['sources'])).toMatchObject({ sources: [{ name: 'near', state: 'ready' }] });
  workshop.write('absent', '');
  expect(await workshop.json(['sources'])).toMatchObject({
    sources: [{ name: 'near', state: 'down', reason: expect.stringContaining('ended with') }],
  });
});

it('what a running server says is wrong with a source is shown', async () => {
  const server = await startModern();
  const workshop = workshopWith({ far: { mcp: { url: server.url } } });
  const serving = workshop.start(['serve', '--port', '0']);
  onTestFinished(async () => {
    if (serving.kill('SIGKILL')) await once(serving, 'exit');
  });
  let said = '';
  serving.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await vi.waitFor(() => expect(said).toContain('Paste this'), { timeout: 30_000 });
  await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(2), { timeout: 30_000 });
  await server.stop();
  await vi.waitFor(() => expect(said).toContain('ECONNREFUSED'), { timeout: 30_000 });
  expect(await workshop.json(['sources'])).toMatchObject({
    sources: [{ name: 'far', state: 'down', reason: expect.stringMatching(/^In the running server: .*ECONNREFUSED/) }],
  });
});
