import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, chromium as playwright } from 'playwright-core';
import { createMcpDoor } from '../../src/doors/mcp/mcp-door.ts';
import type { RestOptions } from '../../src/doors/rest/create-rest-app.ts';
import { type RunningServer, startServer } from '../../src/doors/rest/start-server.ts';
import type { Crib } from '../../src/index.ts';

/** A crib behind a real server, for a browser. */
export interface ConsoleServer {
  readonly crib: Crib;
  readonly url: string;
  readonly port: number;
  /** The operator token. */
  readonly token: string;
  /** The folder of the configuration. */
  readonly folder: string;
  /** Creates an API key for the roles. */
  keyFor(...roles: string[]): Promise<string>;
  /** Stops listening; `start` listens again at the same port, without the sessions from before. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Serves a crib at a free port. */
export async function serveCrib(crib: Crib, folder: string, rest: RestOptions = {}): Promise<ConsoleServer> {
  const mcp = createMcpDoor(crib, { version: '0.0.0', warn: () => {} });
  const listen = (port: number) => startServer(crib, { port, mcp, graceMs: 100, ...rest });
  let running: RunningServer | undefined = await listen(0);
  const { port, url } = running;
  const token = await crib.operatorToken();
  return {
    crib,
    url,
    port,
    token,
    folder,
    keyFor: async (...roles) => (await crib.keys.create({ name: roles.join('-'), roles }, 'test')).key,
    async stop() {
      await running?.close();
      running = undefined;
    },
    async start() {
      running ??= await listen(port);
    },
  };
}

let browser: Promise<Browser> | undefined;

/** Not the arguments of the package: they turn off the same-origin policy, and one process for all pages ends with the first context. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--headless=shell'];

const CACHE = join(import.meta.dirname, '../../node_modules/.cache');
const UNPACKED = join(CACHE, 'toolcrib-chromium');
const UNPACK = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;

/** The browser, launched if it is not. */
export function launch(): Promise<Browser> {
  browser ??= unpackBrowser().then((executablePath) =>
    playwright.launch({ executablePath, args: ARGUMENTS, headless: true }),
  );
  return browser;
}

/**
 * The program of the browser. The package unpacks it into the temporary folder and takes whatever is there, also what
 * another process is still writing. So each process unpacks into a folder of its own, and the first one names it.
 */
async function unpackBrowser(): Promise<string> {
  const program = join(UNPACKED, 'chromium');
  if (existsSync(program)) return program;
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(`${UNPACKED}-`);
  const env = { ...process.env, TMPDIR: folder };
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', UNPACK], { cwd: import.meta.dirname, env });
  await rename(folder, UNPACKED).catch((error: unknown) => {
    if (!existsSync(program)) throw error; // otherwise another process was first
  });
  await rm(folder, { recursive: true, force: true });
  return program;
}

/** Closes the browser. */
export async function closeBrowser(): Promise<void> {
  const launched = await browser;
  browser = undefined;
  await launched?.close();
}

/** Options for opening the console. */
export interface OpenOptions {
  /** True for the operator, or a credential. Default: true. */
  readonly signedIn?: boolean | string;
  /** Default: /tools. */
  readonly path?: string;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The context of an earlier page, for another tab of the same browser. */
  readonly context?: BrowserContext;
}

/** A browser profile of its own: cookies and storage. The caller closes it. */
export async function newContext({
  theme = 'light',
  width = 1440,
  height = 900,
}: OpenOptions = {}): Promise<BrowserContext> {
  const context = await (await launch()).newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    colorScheme: theme,
    reducedMotion: 'reduce',
    viewport: { width, height },
  });
  await context.addInitScript(() => {
    const browserWindow = globalThis as unknown as {
      addEventListener(
        name: string,
        listener: (event: { violatedDirective: string; blockedURI: string }) => void,
      ): void;
    }; // runs in the browser, whose types this project does not have
    browserWindow.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`The policy of the page was violated: ${violatedDirective} ${blockedURI}`),
    );
  });
  return context;
}

/** Where a console is, and the operator token. */
export type ConsoleAddress = Pick<ConsoleServer, 'url' | 'token'>;

/** Signs a browser profile in. */
export async function signIn(
  context: BrowserContext,
  { url, token }: ConsoleAddress,
  signedIn: true | string,
): Promise<void> {
  const response = await context.request.post(`${url}/api/session`, {
    data: { credential: signedIn === true ? token : signedIn },
    headers: { 'x-toolcrib-console': '1', origin: url },
  });
  if (!response.ok()) throw new Error(`The sign-in was answered ${response.status()}: ${await response.text()}`);
}
