import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cribOf, folderWith, namesOf } from './workshop.ts';

interface Asked {
  readonly authorization: string | undefined;
}

/** A server that answers with this list, and what it was asked with. */
async function serve(tools: readonly unknown[]): Promise<{ readonly url: string; readonly asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ authorization: request.headers.authorization });
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ tools }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/specs.json`, asked }; // it listens on a port
}

const tool = (name: string, kind: string) => ({
  name,
  description: '',
  tags: ['theirs'],
  effects: { readOnly: true },
  run: { kind, method: 'GET', url: 'https://example.com' },
});

describe('a list of specs at an address', () => {
  it('is fetched with a secret that goes to its host and nowhere else, and never shows', async () => {
    const { url, asked } = await serve([tool('remote', 'http')]);
    process.env.SPEC_TOKEN = 'very-secret-token';
    const configuration = (host: string) => `
sources: { team: { http: "${url}", headers: { Authorization: "Bearer \${secret:team}" } } }
secrets: { team: { env: SPEC_TOKEN, hosts: ["${host}"] } }
`;
    try {
      const crib = await cribOf(folderWith({ 'toolcrib.yaml': configuration('127.0.0.1') }));
      expect(namesOf(crib)).toEqual(['remote']);
      expect(asked[0]?.authorization).toBe('Bearer very-secret-token');
      const other = await cribOf(folderWith({ 'toolcrib.yaml': configuration('elsewhere.example.com') }));
      expect(namesOf(other)).toEqual([]);
      expect(asked).toHaveLength(1);
      const told = JSON.stringify([other.sources(), other.warnings(), crib.sources(), crib.catalog.specs]);
      expect(told).not.toContain('very-secret-token');
      expect(told).toContain('team');
    } finally {
      delete process.env.SPEC_TOKEN;
    }
  });

  it('brings only the kinds its source allows, and its own claims can only raise caution', async () => {
    const { url } = await serve([tool('fine', 'http'), tool('danger', 'shell')]);
    const crib = await cribOf(folderWith({ 'toolcrib.yaml': `sources: { team: { http: "${url}" } }\n` }));
    expect(namesOf(crib)).toEqual(['fine']);
    expect(crib.get('fine')).toMatchObject({ tags: [], effects: {} });
    const trusted = await cribOf(
      folderWith({ 'toolcrib.yaml': `sources: { team: { http: "${url}", trust: true } }\n` }),
    );
    expect(trusted.get('fine')).toMatchObject({ tags: ['theirs'], effects: { readOnly: true } });
  });
});
