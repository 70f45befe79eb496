import { onTestFinished } from 'vitest';
import { TOOL_ERROR_CODES } from '../../../src/core/tool-error.ts';
import { createRestApp, type RestApp, type RestOptions } from '../../../src/doors/rest/create-rest-app.ts';
import {
  type Crib,
  type CribOptions,
  createCrib,
  done,
  failed,
  type ToolCall,
  type ToolInput,
  toolError,
} from '../../../src/index.ts';
import { folderWith } from '../../crib/workshop.ts';

const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Callers wait here until a test opens it. */
interface Gate {
  readonly entered: Promise<void>;
  open(): void;
}

/** What the tools of a crib have done, and how to make one wait. */
interface Deeds {
  readonly wiped: unknown[];
  /** The next call of `wait` ends when this is opened. */
  hold(): Gate;
}

export interface Served {
  readonly crib: Crib;
  readonly app: RestApp;
  readonly token: string;
  readonly deeds: Deeds;
  ask: Ask;
}

interface Asking {
  readonly method?: string;
  /** Sent as JSON; text as it is. */
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  readonly json: any;
}

export type Ask = (path: string, asking?: Asking) => Promise<Heard>;

/** Tools of which each does one thing. */
function toolsOf(
  deeds: Deeds & { gate?: Gate & { enter(): void; readonly left: Promise<void> } },
): readonly ToolInput[] {
  return [
    {
      name: 'add',
      title: 'Add',
      description: 'Add two numbers',
      category: 'math',
      tags: ['math', 'read'],
      version: '1.2.0',
      input: object({ a: { type: 'number' }, b: { type: 'number' } }),
      output: { type: 'number' },
      effects: { readOnly: true },
      meta: { quick: true },
      run: ({ a, b }: { a: number; b: number }) => a + b,
    } as ToolInput,
    {
      name: 'wipe',
      description: 'Remove everything',
      input: object({ what: { type: 'string' } }),
      effects: { destructive: true },
      run: (input: unknown) => {
        deeds.wiped.push(input);
        return `wiped ${JSON.stringify(input)}`;
      },
    } as ToolInput,
    {
      name: 'fail_with',
      description: 'Fail with a code',
      run: ({ code }: { code: string }) => {
        if (code === 'throw') throw new Error('it broke');
        const known = TOOL_ERROR_CODES.find((one) => one === code) ?? 'unavailable';
        return failed(
          toolError(
            known,
            `as asked: ${code}`,
            code === 'rate_limited' || code === 'later' ? { retryable: true, retryAfterMs: 1500 } : {},
          ),
        );
      },
    } as ToolInput,
    {
      name: 'wait',
      description: 'Wait until somebody says so',
      run: async (_: unknown, call: ToolCall) => {
        deeds.gate?.enter();
        await Promise.race([
          deeds.gate?.left,
          new Promise((resolve) => call.signal.addEventListener('abort', resolve)),
        ]);
        return 'waited';
      },
    } as ToolInput,
    {
      name: 'tell',
      description: 'Tell who asks and how',
      run: (_: unknown, { caller, profile, conversation, turn, timeZone, door, traceparent }: ToolCall) =>
        done('told', JSON.parse(JSON.stringify({ caller, profile, conversation, turn, timeZone, door, traceparent }))),
    } as ToolInput,
    { name: 'long', description: 'Say much', tags: ['read'], run: () => 'x'.repeat(5000) } as ToolInput,
    { name: 'secret_tool', description: 'Not for everybody', run: () => 'hidden' } as ToolInput,
    {
      name: 'echo',
      description: 'Say what came in',
      tags: ['read'],
      input: { type: 'object' },
      run: (input: unknown) => done('echo', { length: JSON.stringify(input).length }),
    } as ToolInput,
  ];
}

const CONFIG = `
defaultProfile: usual
sources: { stored: { database: true, kinds: [http, function] } }
bundles:
  reading: { description: Look and do not touch, include: ["tag:read"] }
  writing: { include: [wipe], instructions: Think before you wipe. }
profiles:
  usual: { exclude: [secret_tool] }
  other: { include: ["tag:read"], active: [reading] }
results: { offloadBytes: 4000 }
`;

const ACCESS = `
access:
  keys: true
  roles:
    dev: { profiles: [usual] }
    reader: { profiles: [other] }
    boss: { profiles: [usual] }
    admin: { profiles: ["*"], operator: true }
`;

/** What a build of the console has, in small. */
const BUILT = {
  'index.html':
    '<!doctype html><meta name="csp-nonce" content="__NONCE__"><script src="/assets/index-B6TPcifr.js"></script>',
  'assets/index-B6TPcifr.js': 'export const page = 1;',
  'assets/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/notes.exe': 'not for browsers',
  'secret.js': 'above the assets',
};

export interface ServeOptions extends RestOptions {
  readonly access?: boolean;
  readonly config?: string;
  readonly crib?: CribOptions;
  readonly url?: string;
  /** A folder to serve, in the place of a new one. */
  readonly folder?: string;
}

/** A crib behind HTTP without a port, closed after the test. */
export async function serve(options: ServeOptions = {}): Promise<Served> {
  const { access = false, config = '', crib: more, url = 'memory:', folder, ...rest } = options;
  const configFile = folder ?? folderWith({ 'toolcrib.yaml': `${CONFIG}${config}${access ? ACCESS : ''}` });
  const deeds = createDeeds();
  const crib = await createCrib({ tools: toolsOf(deeds), store: { url }, watch: false, ...more, configFile });
  const app = createRestApp(crib, { consoleFolder: folderWith(BUILT), ...rest });
  onTestFinished(async () => {
    app.close();
    await crib.close();
  });
  return { crib, app, deeds, token: await crib.operatorToken(), ask: askThrough((request) => app.fetch(request)) };
}

/** Sends requests to whatever answers them. */
export function askThrough(fetch: (request: Request) => Promise<Response>, base = 'http://127.0.0.1'): Ask {
  return async (path, { method, body, token, headers, signal } = {}) => {
    const response = await fetch(
      new Request(`${base}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: readJson(text) };
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function createDeeds(): Deeds {
  const deeds: Deeds & { gate?: unknown } = {
    wiped: [],
    hold() {
      const entered = Promise.withResolvers<void>();
      const left = Promise.withResolvers<void>();
      const gate = { entered: entered.promise, enter: entered.resolve, left: left.promise, open: left.resolve };
      deeds.gate = gate;
      return gate;
    },
  };
  return deeds;
}

/** Calls a tool. */
export function execute(ask: Ask, name: string, args: unknown, more: object = {}, token?: string): Promise<Heard> {
  return ask(`/api/tools/execute/${name}`, {
    body: { arguments: args, ...more },
    ...(token !== undefined && { token }),
  });
}
