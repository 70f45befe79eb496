import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type CribOptions, createCrib } from '../../src/index.ts';
import { type ConsoleServer, newContext, serveCrib, signIn } from './browser.ts';

/** A crib with a few tools in code behind a server, for all tests of a file. */
export function useSmallCrib(options: CribOptions): () => ConsoleServer {
  let server: ConsoleServer | undefined;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-small-'));
    const crib = await createCrib({ store: `sqlite:${join(folder, 'crib.db')}`, ...options });
    const serving = await serveCrib(crib, folder);
    server = serving;
    close = async () => {
      await serving.stop();
      await crib.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    };
  });
  afterAll(() => close());
  return () => {
    if (server === undefined) throw new Error('The server has not started.');
    return server;
  };
}

/** One signed-in browser profile for all tests of a file, which loads the files of the console once. */
export function useSharedContext(server: () => ConsoleServer): () => BrowserContext {
  let context: BrowserContext | undefined;
  beforeAll(async () => {
    context = await newContext();
    await signIn(context, server(), true);
  });
  afterEach(async () => {
    for (const page of context?.pages() ?? []) await page.close();
  });
  afterAll(() => context?.close());
  return () => {
    if (context === undefined) throw new Error('The browser has not started.');
    return context;
  };
}
