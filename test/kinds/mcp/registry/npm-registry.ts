import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

/** A package that is an MCP server with one tool, `greet`. */
interface RegistryPackage {
  readonly name: string;
  /** Of the processor's time, before it answers. */
  readonly warmUpMs?: number;
  /** True if its tarball stops half way until `release`. */
  readonly stalls?: boolean;
}

/** A registry of npm packages on this machine. */
export interface NpmRegistry {
  readonly url: string;
  /** How often the tarball of a package was asked for. */
  downloads(name: string): number;
  /** Sends the rest of what stalls. */
  release(): void;
}

const VERSION = '1.0.0';
/** Makes a tarball worth several steps; random, so that it stays as large when it is compressed. */
const PADDING_BYTES = 192 * 1024;
/** All downloads share one line: it takes a step of this size at a time, and the next one once that has left. */
const STEP_BYTES = 8 * 1024;

/** Serves packuments and tarballs until the test ends. */
export async function startRegistry(packages: readonly RegistryPackage[]): Promise<NpmRegistry> {
  const shelves = new Map(packages.map((one) => [one.name, shelve(one)]));
  const released = Promise.withResolvers<void>();
  let line: Promise<void> = Promise.resolve();
  const sendTarball = async (response: ServerResponse, shelf: Shelf): Promise<void> => {
    const { tarball, stalls = false } = shelf;
    shelf.downloads++;
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': tarball.length });
    for (let start = 0; start < tarball.length; start += STEP_BYTES) {
      if (stalls && start > tarball.length / 2) await released.promise;
      line = line.then(() => writeStep(response, tarball.subarray(start, start + STEP_BYTES)));
      await line;
    }
    response.end();
  };
  const server = createServer((request, response) => {
    const [, name = '', kind] = (request.url ?? '').split('/');
    const shelf = shelves.get(name);
    if (shelf === undefined) response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    else if (kind === '-') void sendTarball(response, shelf);
    else response.writeHead(200, { 'content-type': 'application/json' }).end(packumentOf(shelf, urlOf(server)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    released.resolve();
    server.closeAllConnections();
    server.close();
  });
  return {
    url: urlOf(server),
    downloads: (name) => shelves.get(name)?.downloads ?? 0,
    release: released.resolve,
  };
}

/** A package as it lies in the registry. */
interface Shelf extends RegistryPackage {
  readonly tarball: Buffer;
  downloads: number;
}

function shelve(one: RegistryPackage): Shelf {
  return { ...one, tarball: packTarball(one), downloads: 0 };
}

/** Resolves when the bytes have left, or when the client that wanted them has. */
function writeStep(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve();
    const done = () => {
      response.off('close', done);
      resolve();
    };
    response.on('close', done);
    response.write(bytes, done);
  });
}

function urlOf(server: ReturnType<typeof createServer>): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

function manifestOf({ name, warmUpMs = 0 }: RegistryPackage) {
  return { name, version: VERSION, description: `The ${name} server`, bin: { [name]: 'server.mjs' }, warmUpMs };
}

function packumentOf(shelf: Shelf, url: string): string {
  const { name, tarball } = shelf;
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const dist = { tarball: `${url}/${name}/-/${name}-${VERSION}.tgz`, integrity };
  const versions = { [VERSION]: { ...manifestOf(shelf), dist } };
  return JSON.stringify({ name, 'dist-tags': { latest: VERSION }, versions });
}

/** A package as npm packs it: a compressed archive with everything under `package/`. */
function packTarball(one: RegistryPackage): Buffer {
  const files: readonly (readonly [string, Buffer])[] = [
    ['package/package.json', Buffer.from(JSON.stringify(manifestOf(one)))],
    ['package/server.mjs', readFileSync(join(import.meta.dirname, 'server.mjs'))],
    ['package/padding.bin', randomBytes(PADDING_BYTES)],
  ];
  return gzipSync(Buffer.concat([...files.flatMap(tarEntry), Buffer.alloc(1024)]));
}

/** One file in the format of `tar`: a header of 512 bytes, and the content filled up to a multiple of that. */
function tarEntry([path, content]: readonly [string, Buffer]): readonly Buffer[] {
  const header = Buffer.alloc(512);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  header.write(path, 0);
  header.write(octal(0o755, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(0, 11), 136);
  header.write(' '.repeat(8), 148); // so its own sum counts it
  header.write('0', 156);
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148);
  return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}
