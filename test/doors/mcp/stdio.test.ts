import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createWorkshop, MAIN, SURROUNDINGS, type Workshop } from '../cli/workshop.ts';

const FILES = {
  'toolcrib.yaml': `
sources:
  mine:
    modules: ./plugins
    overrides:
      pay: { effects: { destructive: true }, policy: { approvers: [caller] } }
      pay_guarded: { effects: { destructive: true } }
      pay_after_asking: { policy: { approvers: [caller] } }
profiles: { usual: {}, reader: { include: [say] } }
defaultProfile: usual
`,
  'plugins/tools.js': `
const tool = (name, execute) => ({ name, description: name, input: { type: 'object' }, execute });
export const say = tool('say', () => { console.log('noise'); process.stdout.write('more noise\\n'); return 'hello'; });
export const headed = {
  ...tool('headed', ({ region }) => region),
  input: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
};
export const pay = tool('pay', () => 'paid');
export const pay_after_asking = tool('pay_after_asking', async (_input, call) => (await call.confirm('Really?')) ? 'paid' : 'kept');
export const pay_guarded = tool('pay_guarded', () => 'paid');
export const who = tool('who', (_input, call) => call.caller.id + ' ' + call.profile);
export const hang = tool('hang', (_input, call) => new Promise((resolve) => {
  call.report({ progress: 1, message: 'under way' });
  call.signal.addEventListener('abort', () => { process.stderr.write('ABORTED\\n'); resolve('over'); });
}));
`,
};

function openWorkshop(): Workshop {
  const workshop = createWorkshop(FILES);
  onTestFinished(() => workshop.remove());
  return workshop;
}

/** How a client starts the command line. */
function commandOf(workshop: Workshop, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  return {
    command: process.execPath,
    args: [MAIN, 'serve', '--stdio', ...args],
    cwd: workshop.folder,
    env: { ...(SURROUNDINGS as Record<string, string>), HOME: workshop.folder, ...env }, // all of them are there
    stderr: 'pipe' as const,
  };
}

/** Resolves when a line of stderr says so. */
function untilSaid(stderr: NodeJS.ReadableStream | null, words: RegExp): Promise<string> {
  let seen = '';
  return new Promise((resolve) => {
    stderr?.on('data', (chunk) => {
      seen += chunk;
      const found = words.exec(seen);
      if (found !== null) resolve(found[0]);
    });
  });
}

/** A client, and what can be seen of the command that it started. */
interface Started {
  readonly client: Client | LegacyClient;
  /** What its person says from now on. */
  say(approve: boolean): void;
  readonly aborted: Promise<string>;
  readonly attached: Promise<string>;
}
type Connect = (
  workshop: Workshop,
  args?: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<Started>;

const modern: Connect = async (workshop, args, env) => {
  const transport = new StdioClientTransport(commandOf(workshop, args, env));
  const client = new Client(
    { name: 'modern', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const person = { approve: true };
  client.setRequestHandler('elicitation/create', async () => ({
    action: 'accept' as const,
    content: { approve: person.approve },
  }));
  const seen = watch(transport.stderr);
  await client.connect(transport);
  return { client, ...seen, say: (approve) => void Object.assign(person, { approve }) };
};

/** A client that finds the revision out by itself. */
const automatic: Connect = async (workshop, args, env) => {
  const transport = new StdioClientTransport(commandOf(workshop, args, env));
  const client = new Client({ name: 'automatic', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const seen = watch(transport.stderr);
  await client.connect(transport);
  return { client, ...seen, say: () => undefined };
};

const legacy: Connect = async (workshop, args, env) => {
  const transport = new LegacyTransport(commandOf(workshop, args, env));
  const client = new LegacyClient({ name: 'legacy', version: '1' }, { capabilities: { elicitation: {} } });
  const person = { approve: true };
  client.setRequestHandler(ElicitRequestSchema, async () => ({
    action: 'accept' as const,
    content: { approve: person.approve },
  }));
  const seen = watch(transport.stderr);
  await client.connect(transport);
  return { client, ...seen, say: (approve) => void Object.assign(person, { approve }) };
};

function watch(stderr: unknown): Pick<Started, 'aborted' | 'attached'> {
  const stream = stderr as NodeJS.ReadableStream | null; // a pipe, as was asked for
  return { aborted: untilSaid(stream, /ABORTED/), attached: untilSaid(stream, /Attached to/) };
}

/** The same for one test. */
async function connected(connect: Connect, ...given: Parameters<Connect>): Promise<Started> {
  const started = await connect(...given);
  onTestFinished(() => started.client.close());
  return started;
}

describe.each([
  ['2026-07-28', modern],
  ['2025-11-25', legacy],
] as const)('serve --stdio, to a client of %s', (_era, connect) => {
  let workshop: Workshop;
  let started: Started;
  beforeAll(async () => {
    workshop = createWorkshop(FILES);
    started = await connect(workshop);
  });
  afterAll(async () => {
    await started.client.close();
    workshop.remove();
  });

  it('lists and calls; output of tools does not disturb the protocol', async () => {
    const { client } = started;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('say');
    expect(await client.callTool({ name: 'say' })).toMatchObject({ content: [{ text: 'hello' }] });
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'local usual' }] });
    await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });
  });

  it('asks the user of the client if the policy allows the caller to approve, and otherwise waits', async () => {
    const { client, say } = started;
    say(true);
    expect(await client.callTool({ name: 'pay' })).toMatchObject({ content: [{ text: 'paid' }] });
    say(false);
    expect(await client.callTool({ name: 'pay' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('approver denied') }],
    });
    expect(await client.callTool({ name: 'pay_guarded' })).toMatchObject({
      isError: true,
      _meta: { 'toolcrib/waiting': { for: 'approval' } },
    });
  });

  it('asks the user of the client the questions of a tool', async () => {
    const { client, say } = started;
    say(true);
    expect(await client.callTool({ name: 'pay_after_asking' })).toMatchObject({ content: [{ text: 'paid' }] });
    say(false);
    expect(await client.callTool({ name: 'pay_after_asking' })).toMatchObject({ content: [{ text: 'kept' }] });
  });

  it('sends progress, and ends a cancelled call', async () => {
    const { client, aborted } = started;
    const controller = new AbortController();
    const call = callWith(client, 'hang', { signal: controller.signal, onprogress: () => controller.abort() });
    await expect(call).rejects.toThrow();
    await aborted;
    expect(await client.callTool({ name: 'say' })).toMatchObject({ content: [{ text: 'hello' }] });
  });

  it('attaches to a running server of the same configuration, and works the same', async () => {
    const shared = openWorkshop();
    const server = shared.start(['serve', '--port', '0']);
    onTestFinished(() => void server.kill('SIGKILL'));
    await untilSaid(server.stderr, /listens on http:\S+/);
    const { client, attached } = await connected(connect, shared);
    await attached;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('say');
    expect(await client.callTool({ name: 'say' })).toMatchObject({ content: [{ text: 'hello' }] });
    expect(await client.callTool({ name: 'who' })).toMatchObject({ content: [{ text: 'local usual' }] });
    expect(await client.callTool({ name: 'pay_guarded' })).toMatchObject({ isError: true });
    expect(await client.callTool({ name: 'headed', arguments: { region: 'eu' } })).toMatchObject({
      content: [{ text: 'eu' }],
    });
    await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });
    const isOver = untilSaid(server.stderr, /ABORTED/);
    const controller = new AbortController();
    const call = callWith(client, 'hang', { signal: controller.signal, onprogress: () => controller.abort() });
    await expect(call).rejects.toThrow();
    await isOver;
    server.kill('SIGTERM');
    await once(server, 'exit');
    await expect(client.callTool({ name: 'say' })).rejects.toMatchObject({ code: -32603 });
  });
});

interface Watched {
  readonly signal?: AbortSignal;
  readonly onprogress: (progress: { progress: number }) => void;
}

function callWith(client: Client | LegacyClient, name: string, options: Watched): Promise<unknown> {
  if (client instanceof Client) return client.callTool({ name }, options);
  return client.callTool({ name }, undefined, options);
}

it('a client of an older revision gets list changes', async () => {
  const workshop = openWorkshop();
  const { client } = await connected(legacy, workshop);
  const changed = new Promise<void>((resolve) => {
    (client as LegacyClient).setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  await client.listTools();
  workshop.write(
    'plugins/more.js',
    `export const late = { name: 'late', description: 'late', input: {}, execute: () => 1 };`,
  );
  await changed;
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('late');
});

it('an invalid message is skipped, and the end of stdin ends the command', async () => {
  const child = openWorkshop().start(['serve', '--stdio']);
  const lines = createInterface({ input: child.stdout });
  const answer = once(lines, 'line');
  child.stdin.write('\n\nhello\n{"jsonrpc":"2.0"}\n[]\n{"jsonrpc":"2.0","id":7,"method":"ping"}\n');
  expect(JSON.parse(String((await answer)[0]))).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('shows the named profile, whichever is the default', async () => {
  const { client } = await connected(legacy, openWorkshop(), ['--profile', 'reader']);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['say']);
});

it('with access control it takes a key, and says so if the key is missing', async () => {
  const workshop = openWorkshop();
  workshop.write(
    'toolcrib.yaml',
    `${FILES['toolcrib.yaml']}access: { keys: true, roles: { dev: { profiles: [reader] } } }\n`,
  );
  const refused = await workshop.run(['serve', '--stdio']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('TOOLCRIB_KEY');
  const made = await workshop.run(['keys', 'create', '--name', 'bot', '--role', 'dev']);
  const key = made.stdout.trim();
  const { client } = await connected(modern, workshop, ['--profile', 'reader'], { TOOLCRIB_KEY: key });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['say']);
  const wrong = await workshop.run(['serve', '--stdio', '--port', '1']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--port') });
});

describe('a client that cannot be served', () => {
  /** What the handshake of a client is answered with, and what stands on stderr. */
  async function refusalOf(files: Readonly<Record<string, string>>, args: readonly string[] = []) {
    const workshop = createWorkshop(files);
    onTestFinished(() => workshop.remove());
    const refusals: string[] = [];
    for (const connect of [automatic, legacy]) {
      const told = await connect(workshop, args).then(
        ({ client }) => client.close().then(() => 'it is served'),
        (cause: unknown) => (cause as Error).message, // of the protocol
      );
      refusals.push(told);
    }
    const { code, stderr, stdout } = await workshop.run(['serve', '--stdio', ...args], {
      input:
        '{"jsonrpc":"2.0","method":"notifications/initialized"}\nx\n{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
    });
    expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: '2.0', id: 1, error: { code: -32000 } });
    return { refusals, code, stderr, folder: workshop.folder };
  }

  it('gets an error if no configuration was found, with what to do', async () => {
    const { refusals, code, stderr, folder } = await refusalOf({});
    expect(code).toBe(2);
    for (const told of [...refusals, stderr]) {
      expect(told).toContain(`No toolcrib.yaml found in "${folder}", so no tools are available.`);
      expect(told).toContain('--config');
    }
  });

  it('gets the error of the configuration or the profile', async () => {
    const { refusals, stderr } = await refusalOf({ 'toolcrib.yaml': 'profils: {}\n' });
    for (const told of [...refusals, stderr]) expect(told).toContain('profils');
    const other = await refusalOf(FILES, ['--profile', 'reeder']);
    for (const told of [...other.refusals, other.stderr]) expect(told).toContain('Did you mean "reader"?');
  });

  it('is served without a configuration if packages bring tools', async () => {
    const workshop = createWorkshop({
      'package.json': '{ "dependencies": { "some-tools": "1.0.0" } }',
      'node_modules/some-tools/package.json':
        '{ "name": "some-tools", "version": "1.0.0", "type": "module", "toolcrib": { "tools": { "greet": "./tools.js#greet" } } }',
      'node_modules/some-tools/tools.js':
        "export const greet = { name: 'greet', description: 'Greet', input: { type: 'object' }, execute: () => 'hello' };",
    });
    onTestFinished(() => workshop.remove());
    const { client } = await connected(modern, workshop);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['greet']);
  });
});
