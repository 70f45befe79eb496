import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Crib, createCrib, type ToolCall, type ToolInput } from '../../../src/index.ts';
import { folderWith } from '../../crib/workshop.ts';
import { serverOf } from '../../kinds/mcp/upstream.ts';
import { MAIN, SURROUNDINGS } from '../cli/workshop.ts';
import { modernRequest, post, type RawMessage } from './clients.ts';
import { serveCrib } from './gateway.ts';

/** What the server behind the gateway got with a call. */
interface Received {
  readonly name: string;
  readonly arguments: unknown;
  readonly responses: unknown;
  readonly state: unknown;
  readonly meta: unknown;
  readonly capabilities: unknown;
}

/** What a client says besides the tool and its arguments. */
export interface Saying {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly capabilities?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A gateway before a real server of 2026-07-28 (`bank_transfer`, and `bank_ask`, which asks for an amount) and functions that note what they get. */
export interface Bank {
  readonly crib: Crib;
  /** Calls a tool as a client written by hand would. */
  call(name: string, saying?: Saying): Promise<RawMessage>;
  /** Sends something to the REST door, as the operator. */
  rest(path: string, body: unknown): Promise<{ readonly status: number }>;
  /** The same as the caller that the client of MCP is. */
  restAsCaller(path: string, body: unknown): Promise<{ readonly status: number }>;
  /** Runs the command line in a process of its own. */
  commandLine(...args: readonly string[]): Promise<number>;
  received(): readonly Received[];
  /** What the function got, besides its arguments. */
  readonly noted: Readonly<Record<string, unknown>>[];
}

export const CAN_ASK = { elicitation: { form: {} } };

interface BankOptions {
  readonly approvers?: readonly string[];
  readonly tools?: readonly ToolInput[];
  /** `none` where only functions are called. */
  readonly server?: 'none';
  /** `none` where the server does not run what was approved, so that a call takes it up. */
  readonly runner?: 'none';
  /** What is other than usual about the profile. */
  readonly profile?: object;
}

/** Opens a bank in which every tool asks a person first. */
export async function openBank({
  approvers = ['operator'],
  tools = [],
  server,
  runner,
  profile,
}: BankOptions = {}): Promise<Bank> {
  const folder = folderWith({});
  const log = join(folder, 'received.ndjson');
  const config = {
    sources: server === 'none' ? {} : { bank: { mcp: serverOf('witness.ts', [log]) } },
    store: { url: `sqlite:${join(folder, 'crib.db')}` },
    profiles: { default: { policy: { approval: 'always', approvers }, ...profile } },
    defaultProfile: 'default',
  };
  const configFile = join(folderWith({ 'toolcrib.json': JSON.stringify(config) }), 'toolcrib.json');
  const noted: Readonly<Record<string, unknown>>[] = [];
  const crib = await createCrib({ configFile, tools: [noteInto(noted), ...tools] });
  onTestFinished(() => crib.close());
  const idle: Crib = Object.create(crib, { runParked: { value: () => () => {} } });
  const { url } = await serveCrib(runner === 'none' ? idle : crib);
  const origin = new URL(url()).origin;
  const token = await crib.operatorToken();
  return {
    crib,
    noted,
    async call(name, { params = {}, meta = {}, capabilities = CAN_ASK, headers = {} } = {}) {
      const given = name.startsWith('bank_') ? { to: 'bob' } : {};
      const sent = modernRequest('tools/call', { name, arguments: given, ...params, _meta: meta }, capabilities);
      return (await post(url(), sent.body, { ...sent.headers, ...headers })).messages.at(-1) ?? {};
    },
    rest: (path, body) => postJson(`${origin}${path}`, body, { authorization: `Bearer ${token}` }),
    restAsCaller: (path, body) => postJson(`${origin}${path}`, body, {}),
    async commandLine(...args) {
      const env = { ...SURROUNDINGS, HOME: folder };
      const child = spawn(process.execPath, [MAIN, ...args, '--config', configFile], { env, stdio: 'ignore' });
      const [code] = await once(child, 'close');
      return code;
    },
    received: () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean).map(parse) : []),
  };
}

async function postJson(url: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<Response> {
  const type = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) });
}

function parse(line: string): Received {
  return JSON.parse(line);
}

function noteInto(noted: Readonly<Record<string, unknown>>[]): ToolInput {
  return {
    name: 'note',
    description: 'Notes what it gets',
    run: (_: unknown, call: ToolCall) => {
      const { caller, profile, conversation, turn, timeZone, door, idempotencyKey, traceparent, answers } = call;
      noted.push({ caller, profile, conversation, turn, timeZone, door, idempotencyKey, traceparent, answers });
      return 'noted';
    },
  };
}

/** The id of the approval that an answer of the gateway waits for. */
export function waitingId({ result }: RawMessage): string {
  const { _meta } = result as { readonly _meta?: { readonly 'toolcrib/waiting'?: { readonly id: string } } }; // or it is undefined
  const id = _meta?.['toolcrib/waiting']?.id;
  if (id === undefined) throw new Error(`it does not wait: ${JSON.stringify(result)}`);
  return id;
}
