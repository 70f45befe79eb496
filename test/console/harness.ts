import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { RestOptions } from '../../src/doors/rest/create-rest-app.ts';
import {
  type ConsoleAddress,
  type ConsoleServer,
  closeBrowser,
  launch,
  newContext,
  type OpenOptions,
  serveCrib,
  signIn,
} from './browser.ts';
import { type FixtureOptions, openFixture } from './fixture-crib.ts';

const BUILT = join(import.meta.dirname, '../../dist/ui/index.html');

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

/** One browser for all tests of a file. */
export function useBrowser(): void {
  beforeAll(async () => {
    if (!existsSync(BUILT)) fail('The console is not built: run npm run build.');
    await launch();
  });
  afterAll(() => closeBrowser());
}

/** Opens the console. Violations of the policy of the page and errors in its console fail the test. */
export async function openConsole(server: ConsoleAddress, options: OpenOptions = {}): Promise<Page> {
  const { signedIn = true, path = '/tools' } = options;
  const context = options.context ?? (await contextOfTest(options));
  if (options.context === undefined && signedIn !== false) await signIn(context, server, signedIn);
  const page = await context.newPage();
  watchErrors(page);
  await page.goto(`${server.url}${path}`);
  return page;
}

/** A browser profile that is closed after the test. */
async function contextOfTest(options: OpenOptions): Promise<BrowserContext> {
  const context = await newContext(options);
  onTestFinished(() => context.close());
  return context;
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
