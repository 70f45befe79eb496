import { existsSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { createMcpDoor } from '../../src/doors/mcp/mcp-door.ts';
import type { RestOptions } from '../../src/doors/rest/create-rest-app.ts';
import { type RunningServer, startServer } from '../../src/doors/rest/start-server.ts';
import type { Crib } from '../../src/index.ts';
import { type FixtureOptions, openFixture } from './fixture-crib.ts';

const BUILT = join(import.meta.dirname, '../../dist/ui/index.html');

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

/** The fixture behind a server, for all tests of a file. */
export function useServer(options: FixtureOptions & { readonly rest?: RestOptions } = {}): () => ConsoleServer {
  let server: ConsoleServer | undefined;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const { crib, folder, close: closeFixture } = await openFixture(options);
    const serving = await serveCrib(crib, folder, options.rest);
    server = serving;
    close = async () => {
      await serving.stop();
      await closeFixture();
    };
  });
  afterAll(() => close());
  return () => server ?? fail('The server has not started.');
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

/** One browser for all tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    if (!existsSync(BUILT)) fail('The console is not built: run npm run build.');
    await launch();
  });
  afterAll(async () => {
    const launched = await browser;
    browser = undefined;
    await launched?.close();
  });
}

/** Not the arguments of the package: they turn off the same-origin policy, and one process for all pages ends with the first context. */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--headless=shell'];

/** The browser, launched if it is not. */
export function launch(): Promise<Browser> {
  browser ??= chromium
    .executablePath()
    .then((executablePath) => playwright.launch({ executablePath, args: ARGUMENTS, headless: true }));
  return browser;
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

/** Opens the console. Violations of the policy of the page and errors in its console fail the test. */
export async function openConsole(server: ConsoleServer, options: OpenOptions = {}): Promise<Page> {
  const { signedIn = true, path = '/tools' } = options;
  const context = options.context ?? (await newContext(options));
  if (options.context === undefined && signedIn !== false) await signIn(context, server, signedIn);
  const page = await context.newPage();
  watchErrors(page);
  await page.goto(`${server.url}${path}`);
  return page;
}

/** A browser profile of its own: cookies and storage. It is closed after the test. */
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
  onTestFinished(() => context.close());
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

async function signIn(context: BrowserContext, { url, token }: ConsoleServer, signedIn: true | string): Promise<void> {
  const response = await context.request.post(`${url}/api/session`, {
    data: { credential: signedIn === true ? token : signedIn },
    headers: { 'x-toolcrib-console': '1', origin: url },
  });
  if (!response.ok()) fail(`The sign-in was answered ${response.status()}: ${await response.text()}`);
}

/** Refusals of the API and a server that is away are logged by the browser; the page shows them itself. */
const LOGGED_BY_BROWSER = /^Failed to load resource/;

function watchErrors(page: Page): void {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error.stack ?? error)));
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    const isOfApi =
      LOGGED_BY_BROWSER.test(message.text()) && new URL(message.location().url).pathname.startsWith('/api/');
    if (!isOfApi) errors.push(message.text());
  });
  onTestFinished(() => {
    if (errors.length > 0) fail(`The page reported errors:\n${errors.join('\n')}`);
  });
}

function fail(message: string): never {
  throw new Error(message);
}
