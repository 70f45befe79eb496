import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type CribOptions, createCrib } from '../../src/index.ts';
import { type ConsoleServer, serveCrib } from './browser.ts';

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
      rmSync(folder, { recursive: true, force: true });
    };
  });
  afterAll(() => close());
  return () => {
    if (server === undefined) throw new Error('The server has not started.');
    return server;
  };
}
