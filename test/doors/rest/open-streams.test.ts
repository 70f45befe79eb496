import { expect, it, onTestFinished } from 'vitest';
import { createRestApp } from '../../../src/doors/rest/create-rest-app.ts';
import type { Crib } from '../../../src/index.ts';
import { cribOf, folderWith, write } from '../../crib/workshop.ts';
import { modernRequest } from '../mcp/clients.ts';
import { serveCrib } from '../mcp/gateway.ts';

const ACCESS = 'access: { keys: true, roles: { admin: { profiles: ["*"], operator: true } } }\n';
const CONFIG = `${ACCESS}profiles: { usual: {} }\n`;

interface Scene {
  readonly crib: Crib;
  readonly folder: string;
  readonly key: string;
}

async function sceneOf(): Promise<Scene> {
  const folder = folderWith({ 'toolcrib.yaml': CONFIG });
  const crib = await cribOf(folder);
  const { key } = await crib.keys.create({ name: 'ann', roles: ['admin'] }, 'test');
  return { crib, folder, key };
}

const LOSSES: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'its key is revoked': async ({ crib }) => {
    const [info] = await crib.keys.list();
    return crib.keys.revoke(info?.id ?? '', 'test');
  },
  'its role is not one of operators any more': ({ crib, folder }) => {
    write(folder, { 'toolcrib.yaml': CONFIG.replace(', operator: true', '') });
    return crib.reload();
  },
  'keys are turned off': ({ crib, folder }) => {
    write(folder, { 'toolcrib.yaml': CONFIG.replace('keys: true', 'keys: false') });
    return crib.reload();
  },
};

/** Reads a stream to its end. */
async function readAll({ body }: Response): Promise<void> {
  for await (const _chunk of body ?? []);
}

it.each(Object.keys(LOSSES))('an event stream ends when %s', async (loss) => {
  const scene = await sceneOf();
  const app = createRestApp(scene.crib, { events: { recheckMs: 5 } });
  onTestFinished(() => app.close());
  const headers = { authorization: `Bearer ${scene.key}` };
  const events = await app.fetch(new Request('http://127.0.0.1/api/events', { headers }));
  expect(events.status).toBe(200);
  const ended = readAll(events);
  await LOSSES[loss]?.(scene);
  await ended;
});

it('an event stream ends when the role of its caller opens fewer profiles', async () => {
  const roles = (opened: string) => `access: { keys: true, roles: { dev: { profiles: [${opened}] } } }\n`;
  const config = 'profiles: { usual: {}, other: {} }\n';
  const folder = folderWith({ 'toolcrib.yaml': roles('usual, other') + config });
  const crib = await cribOf(folder);
  const { key } = await crib.keys.create({ name: 'ann', roles: ['dev'] }, 'test');
  const app = createRestApp(crib, { events: { recheckMs: 5 } });
  onTestFinished(() => app.close());
  const headers = { authorization: `Bearer ${key}` };
  const events = await app.fetch(new Request('http://127.0.0.1/api/events', { headers }));
  const ended = readAll(events);
  write(folder, { 'toolcrib.yaml': roles('usual') + config });
  await crib.reload();
  await ended;
});

it('an event stream of a caller that keeps its access stays open', async () => {
  const { crib, key } = await sceneOf();
  const app = createRestApp(crib, { events: { recheckMs: 1, heartbeatMs: 10 } });
  onTestFinished(() => app.close());
  const headers = { authorization: `Bearer ${key}` };
  const events = await app.fetch(new Request('http://127.0.0.1/api/events', { headers }));
  const reader = events.body?.getReader();
  for (let beat = 0; beat < 10; beat++) expect((await reader?.read())?.done).toBe(false);
  await reader?.cancel();
});

it('a subscription of an MCP client ends when its key is revoked', async () => {
  const scene = await sceneOf();
  const gateway = await serveCrib(scene.crib);
  const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const news = await fetch(gateway.url('usual'), {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${scene.key}`,
    },
    body: JSON.stringify(body),
  });
  expect(news.headers.get('content-type')).toContain('text/event-stream');
  const ended = readAll(news);
  await LOSSES['its key is revoked']?.(scene);
  await ended;
});
