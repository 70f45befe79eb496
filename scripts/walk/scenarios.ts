import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Crib } from '../../src/index.ts';
import type { FilesRunBy } from './record-files.ts';

/** One path through the code. */
export interface Scenario {
  readonly says: string;
  /** The file where a reader begins. */
  readonly entry: string;
  walk(filesRunBy: FilesRunBy): Promise<readonly string[]>;
}

const ADD = {
  name: 'add',
  description: 'Add two numbers',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  effects: { readOnly: true },
  run: ({ a, b }: { a: number; b: number }) => a + b,
};
const TOUCH = `
tools:
  - name: touch
    description: Make a file
    input: { type: object, properties: { path: { type: string } }, required: [path], additionalProperties: false }
    run: { kind: shell, command: [touch, "--", "{path}"] }
    effects: { destructive: true }
`;
const CONFIG = `
sources: { desk: { files: ./specs } }
executors: { shell: { sandbox: none, roots: [.] } }
profiles: { assistant: {} }
`;

/** By the word on the command line. Files of `src` are loaded by the scenarios, after counting has begun. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  call: {
    says: "chest.call('add', ...) of a function, to the executor and back",
    entry: 'crib/open-chest.ts',
    async walk(filesRunBy) {
      const { createCrib } = await import('../../src/index.ts');
      const crib = await createCrib({ tools: [ADD] as never }); // its run is typed by hand
      const chest = await crib.open();
      const call = () => chest.call('add', { a: 1, b: 2 });
      await call();
      return filesRunBy(call);
    },
  },
  approval: {
    says: 'MCP tools/call of a shell tool that needs approval, approved over REST, and its result',
    entry: 'doors/rest/start-server.ts',
    async walk(filesRunBy) {
      const crib = await openWorkshop();
      const { startServer } = await import('../../src/doors/rest/start-server.ts');
      const { createMcpDoor } = await import('../../src/doors/mcp/mcp-door.ts');
      const mcp = createMcpDoor(crib, { version: '0.0.0' });
      const server = await startServer(crib, { mcp, port: 0 });
      const token = await crib.server.operatorToken();
      await approveOne(server.url, token, 'first');
      return filesRunBy(() => approveOne(server.url, token, 'second'));
    },
  },
  search: {
    says: 'toolcrib search, without the files that only start and close the crib',
    entry: 'doors/cli/run-cli.ts',
    async walk(filesRunBy) {
      const folder = workshopFolder();
      const { createCrib } = await import('../../src/index.ts');
      const { runCli } = await import('../../src/doors/cli/run-cli.ts');
      const command = () => silently(() => runCli(['search', 'make', 'a', 'file', '--config', folder]));
      const startAndClose = async () => (await createCrib({ configFile: folder, watch: false })).close();
      const crib = await createCrib({ configFile: folder, watch: false });
      const search = async () => (await crib.openAll()).search('make a file');
      for (const work of [command, startAndClose, search]) await work();
      const starting = new Set(await filesRunBy(startAndClose));
      const ofCommand = (await filesRunBy(command)).filter((file) => !starting.has(file));
      return [...new Set([...ofCommand, ...(await filesRunBy(search))])].toSorted();
    },
  },
  reload: {
    says: 'an edit of one file source, until the new tool is listed',
    entry: 'sources/files.ts',
    async walk(filesRunBy) {
      const folder = workshopFolder();
      const { createCrib } = await import('../../src/index.ts');
      const crib = await createCrib({ configFile: folder });
      const edit = async (name: string) => {
        const changed = Promise.withResolvers<unknown>();
        const stop = crib.onChange(changed.resolve);
        writeFileSync(join(folder, 'specs/tools.yaml'), TOUCH.replace('name: touch', `name: ${name}`));
        await changed.promise;
        stop();
        (await crib.open()).list();
      };
      await edit('first');
      return filesRunBy(() => edit('second'));
    },
  },
  start: {
    says: 'createCrib({ config }) to the first list',
    entry: 'crib/create-crib.ts',
    async walk(filesRunBy) {
      const folder = workshopFolder();
      const { createCrib } = await import('../../src/index.ts');
      const start = async () => {
        const config = { sources: { desk: { files: join(folder, 'specs') } }, profiles: { assistant: {} } };
        const crib = await createCrib({ config, store: { url: 'memory:' }, watch: false });
        (await crib.open()).list();
      };
      await start();
      return filesRunBy(start);
    },
  },
};

/** A folder with a configuration and one file of specs. */
function workshopFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-walk-'));
  process.env.XDG_STATE_HOME = join(folder, 'state');
  mkdirSync(join(folder, 'specs'));
  writeFileSync(join(folder, 'specs/tools.yaml'), TOUCH);
  writeFileSync(join(folder, 'toolcrib.yaml'), CONFIG);
  return folder;
}

async function openWorkshop(): Promise<Crib> {
  const { createCrib } = await import('../../src/index.ts');
  return createCrib({ configFile: workshopFolder(), watch: false });
}

/** A call that waits, the operator's yes, and the same call again, which gets the result. */
async function approveOne(url: string, token: string, path: string): Promise<void> {
  const call = () => post(`${url}/mcp`, { method: 'tools/call', params: { name: 'touch', arguments: { path } } });
  const waiting = await call();
  const id = /[0-9a-z]{4}-[0-9a-z]{4}-[0-9a-z]{4}/.exec(waiting)?.[0];
  if (id === undefined) throw new Error(`The call does not wait: ${waiting}`);
  await post(`${url}/api/approvals/${id}`, { decision: 'approve' }, { authorization: `Bearer ${token}` });
  const result = await call();
  if (result.includes('"isError":true')) throw new Error(`The call has failed: ${result}`);
}

async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ ...(url.endsWith('/mcp') && { jsonrpc: '2.0', id: 1 }), ...body }),
  });
  return response.text();
}

/** Runs a command whose output is not for this terminal. */
async function silently(work: () => Promise<unknown>): Promise<void> {
  const { write } = process.stdout;
  process.stdout.write = () => true;
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
}
