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

it('a server with a stored list that is gone is not reported as ready', async () => {
  const server = await startModern();
  const workshop = workshopWith({ far: { mcp: { url: server.url } } });
  expect(await workshop.json(['sources'])).toMatchObject({ sources: [{ name: 'far', state: 'ready' }] });
  await server.stop();
  expect(await workshop.json(['sources'])).toMatchObject({
    sources: [{ name: 'far', state: 'down', reason: expect.stringContaining('ECONNREFUSED') }],
  });
  expect((await workshop.run(['sources'])).stdout).toMatch(/far +down .*ECONNREFUSED/);
});

it('a program with a stored list that no longer starts is not reported as ready', async () => {
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

it('the problems that a running server reports about a source are shown', async () => {
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
  expect(await workshop.json(['sources'])).toMatchObject({ sources: [{ name: 'far', state: 'ready' }] }); // its list is stored
  await server.stop();
  await vi.waitFor(() => expect(said).toContain('ECONNREFUSED'), { timeout: 30_000 });
  expect(await workshop.json(['sources'])).toMatchObject({
    sources: [{ name: 'far', state: 'down', reason: expect.stringMatching(/^In the running server: .*ECONNREFUSED/) }],
  });
});
