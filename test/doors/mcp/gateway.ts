import { onTestFinished } from 'vitest';
import { createMcpDoor } from '../../../src/doors/mcp/mcp-door.ts';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import type { Crib, CribOptions } from '../../../src/index.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';

/** A crib behind a gateway that listens. */
export interface Gateway {
  readonly crib: Crib;
  /** Where a profile is, or the default one. */
  url(profile?: string): string;
  /** What the door told its owner. */
  readonly warnings: string[];
  /** Ends streams of news alone. */
  endNews(): void;
  /** Ends the door, and with it streams of news. */
  close(): Promise<void>;
}

/** Starts a gateway over real sockets; gone after the test. */
export async function startGateway(
  options: CribOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<Gateway> {
  const { files = {}, ...rest } = options;
  const crib = await cribOf(folderWith(files), rest);
  return serveCrib(crib);
}

/** The same for a crib that is there. */
export async function serveCrib(crib: Crib): Promise<Gateway> {
  const warnings: string[] = [];
  const mcp = createMcpDoor(crib, { version: '1.2.3', warn: (message) => warnings.push(message) });
  const server = await startServer(crib, { mcp, port: 0, graceMs: 0 });
  onTestFinished(async () => {
    await mcp.close();
    await server.close();
  });
  return {
    crib,
    warnings,
    close: mcp.close,
    endNews: mcp.endNews,
    url: (profile) => `${server.url}/mcp${profile === undefined ? '' : `/${profile}`}`,
  };
}
