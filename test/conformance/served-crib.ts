import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { MAIN } from '../doors/cli/workshop.ts';

/** A running `toolcrib serve`. */
export interface ServedCrib {
  /** Of the gateway. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves a configuration from a folder, as a user does, on any port. */
export async function serveCrib(folder: string, config: object): Promise<ServedCrib> {
  writeFileSync(join(folder, 'toolcrib.json'), JSON.stringify(config));
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const closed = once(child, 'close');
  process.once('exit', () => child.kill()); // also after a failure in between
  const close = async (): Promise<void> => {
    child.kill();
    await closed;
  };
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    const [, url] = /listens on (\S+)/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stderr.resume();
    await untilReady(url);
    return { url: `${url}/mcp`, close };
  }
  throw new Error(`toolcrib serve ended before it listened: ${lines.join(' ')}`);
}

/** It listens before it knows the tools. */
async function untilReady(url: string): Promise<void> {
  while (!(await fetch(`${url}/readyz`)).ok) await wait(50);
}
