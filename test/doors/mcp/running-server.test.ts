import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findServer, noteServer } from '../../../src/crib/running-server.ts';
import { folderWith } from '../../crib/workshop.ts';

/** A server that says it is well, or not. */
async function listen(status = 200): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port; // it listens on a port
}

function place(): { readonly configuration: string; readonly folder: string; readonly state: string } {
  const folder = folderWith({ 'toolcrib.yaml': '{}', 'other.yaml': '{}' });
  const state = join(folder, '.toolcrib');
  mkdirSync(state);
  return { configuration: join(folder, 'toolcrib.yaml'), folder, state };
}

it('a server is found by its configuration, until it is gone', async () => {
  const { configuration, state, folder } = place();
  const port = await listen();
  expect(await findServer(configuration)).toBeUndefined();
  const forget = noteServer({ configuration, stateFolder: () => state }, { address: '0.0.0.0', port });
  expect(await findServer(configuration)).toBe(`http://127.0.0.1:${port}`);
  expect(await findServer(join(folder, 'other.yaml'))).toBeUndefined();
  expect(await findServer(folder)).toBeUndefined();
  forget();
  forget();
  expect(await findServer(configuration)).toBeUndefined();
  expect(readdirSync(state)).toEqual([]);
});

it('a server that replaced another keeps its file when the other ends', async () => {
  const { configuration, state } = place();
  const context = { configuration, stateFolder: () => state };
  const forget = noteServer(context, { address: '127.0.0.1', port: 1 });
  const port = await listen();
  noteServer(context, { address: '127.0.0.1', port });
  forget();
  expect(await findServer(configuration)).toBe(`http://127.0.0.1:${port}`);
});

it('a stale, malformed or linked file is skipped', async () => {
  const { configuration, state } = place();
  const sick = await listen(500);
  const well = await listen();
  noteServer({ configuration, stateFolder: () => state }, { address: '127.0.0.1', port: sick });
  expect(await findServer(configuration)).toBeUndefined();
  const file = join(state, readdirSync(state)[0] ?? '');
  const url = `http://127.0.0.1:${well}`;
  for (const text of [
    '',
    'null',
    '[]',
    '{"pid":1',
    JSON.stringify({ pid: 2 ** 30, url }),
    JSON.stringify({ pid: process.pid, url: `${url}/elsewhere` }),
    JSON.stringify({ pid: process.pid, url: 'https://example.com:443' }),
    JSON.stringify({ pid: String(process.pid), url }),
  ]) {
    writeFileSync(file, text);
    expect(await findServer(configuration)).toBeUndefined();
  }
  writeFileSync(file, JSON.stringify({ pid: process.pid, url }));
  expect(await findServer(configuration)).toBe(url);
});

it('without a writable folder no file is written', () => {
  const nowhere = { configuration: '/nowhere/toolcrib.yaml', stateFolder: () => '/nowhere/at/all' };
  expect(() => noteServer(nowhere, { address: '127.0.0.1', port: 1 })()).not.toThrow();
  expect(() => noteServer({ stateFolder: () => undefined }, { address: '::', port: 1 })()).not.toThrow();
});
