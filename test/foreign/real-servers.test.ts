import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, createPeers, serverOf } from './peers.ts';

type Fields = Readonly<Record<string, unknown>>;
type Calls = readonly (readonly [tool: string, input: Fields])[];

const peers = createPeers();
const shelf = join(peers.folder, 'shelf');
const memoryIn = (file: string): Command => ({
  ...serverOf('server-memory'),
  env: { MEMORY_FILE_PATH: join(peers.folder, file) },
});

const DIRECT: Readonly<Record<string, Command>> = {
  everything: serverOf('server-everything'),
  filesystem: serverOf('server-filesystem', shelf),
  memory: memoryIn('direct.json'),
};
const BEHIND: Readonly<Record<string, Command>> = { ...DIRECT, memory: memoryIn('behind.json') };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Every tool that changes nothing, or changes it back, and needs no user. */
const CALLS: Readonly<Record<string, () => Calls>> = {
  everything: () => [
    ['echo', { message: 'Grüße, 世界 \u0000 "quoted"' }],
    ['get-annotated-message', { messageType: 'error', includeImage: true }],
    ['get-annotated-message', { messageType: 'success', includeImage: false }],
    ['get-annotated-message', { messageType: 'debug', includeImage: true }],
    ['get-resource-links', { count: 7 }],
    ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
    ['get-resource-reference', { resourceType: 'Blob', resourceId: 2 }],
    ['get-structured-content', { location: 'Chicago' }],
    ['get-sum', { a: 0.1, b: -2e30 }],
    ['get-tiny-image', {}],
    ['gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain;base64,aGVsbG8=', outputType: 'resource' }],
    ['trigger-long-running-operation', { duration: 0.02, steps: 2 }],
  ],
  filesystem: () => [
    ['list_allowed_directories', {}],
    ['list_directory', { path: shelf }],
    ['list_directory_with_sizes', { path: shelf, sortBy: 'size' }],
    ['directory_tree', { path: shelf }],
    ['read_text_file', { path: join(shelf, 'a.txt'), head: 1 }],
    ['read_multiple_files', { paths: [join(shelf, 'a.txt'), join(shelf, 'none.txt')] }],
    ['read_media_file', { path: join(shelf, 'pixel.png') }],
    ['read_media_file', { path: join(shelf, 'sound.wav') }],
    ['read_media_file', { path: join(shelf, 'data.bin') }],
    ['search_files', { path: shelf, pattern: '*.png' }],
    ['get_file_info', { path: join(shelf, 'a.txt') }],
    ['write_file', { path: join(shelf, 'new.txt'), content: 'one\ntwo\n' }],
    ['edit_file', { path: join(shelf, 'new.txt'), edits: [{ oldText: 'two', newText: 'three' }], dryRun: true }],
    ['read_text_file', { path: join(shelf, 'none.txt') }],
    ['read_text_file', { path: '/etc/passwd' }],
  ],
  memory: () => [
    ['read_graph', {}],
    [
      'create_entities',
      {
        entities: ['Ann', 'Bob'].map((name) => ({ name, entityType: 'person', observations: [`${name} is tall`] })),
      },
    ],
    ['create_relations', { relations: [{ from: 'Ann', to: 'Bob', relationType: 'knows' }] }],
    ['add_observations', { observations: [{ entityName: 'Bob', contents: ['plays chess'] }] }],
    ['add_observations', { observations: [{ entityName: 'Nobody', contents: ['is not there'] }] }],
    ['search_nodes', { query: 'chess' }],
    ['open_nodes', { names: ['Ann'] }],
    ['delete_entities', { entityNames: ['Ann'] }],
    ['read_graph', {}],
  ],
};

let url: string;

beforeAll(async () => {
  mkdirSync(shelf);
  const files = {
    'a.txt': 'first\nsecond\n',
    'pixel.png': Buffer.from(PIXEL, 'base64'),
    'sound.wav': 'RIFF',
    'data.bin': 'x',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(shelf, name), content);
  // The servers mark most writing tools as destructive, and no approver is available.
  const overrides = { '*': { effects: { destructive: false } } };
  const sources = Object.entries(BEHIND).map(([name, mcp]) => [name, { mcp, trust: true, overrides }]);
  url = await peers.serve({ sources: Object.fromEntries(sources) });
});

/** The time of day is never the same. */
function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/\d{1,2}:\d{2}:\d{2}(\s?[AP]M)?/g, 'TIME'));
}

async function resultOf(client: Client, name: string, input: Fields): Promise<unknown> {
  return timeless(await client.callTool({ name, arguments: input }));
}

describe.each(Object.keys(DIRECT))('server-%s behind the gateway', (name) => {
  it('lists the same tools as the server itself', async () => {
    const [direct, behind] = await Promise.all([peers.connect(DIRECT[name] as Command), peers.connect(url)]);
    const own = (await direct.listTools()).tools.map(({ execution: _tasks, annotations, ...tool }) => ({
      ...tool,
      name: `${name}_${tool.name}`,
      annotations: { ...annotations, destructiveHint: false },
    }));
    const { tools } = await behind.listTools();
    expect(tools.filter((tool) => tool.name.startsWith(`${name}_`))).toEqual(own);
  });

  it('answers every call as the server itself does', async () => {
    const [direct, behind] = await Promise.all([peers.connect(DIRECT[name] as Command), peers.connect(url)]);
    await behind.listTools(); // then the client checks structured content
    for (const [tool, input] of CALLS[name]?.() ?? []) {
      const own = await resultOf(direct, tool, input);
      expect([tool, await resultOf(behind, `${name}_${tool}`, input)]).toEqual([tool, own]);
    }
  });
});
