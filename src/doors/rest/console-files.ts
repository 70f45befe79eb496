import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { notFound, toResponse } from './answers.ts';

/** The built files of the console. */
export interface ConsoleFiles {
  /** The page, which is the same for every address: its script reads the address. */
  page(): Promise<Response>;
  /** A file under /assets/. */
  asset(name: string, request: Request): Promise<Response>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

const NONCE = '__NONCE__';

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

const compress = promisify(gzip);

/** Serves the files of a folder, by default of the build in `dist/ui`. */
export function createConsoleFiles(folder: string = builtFolder()): ConsoleFiles {
  const assets = new Map<string, Promise<Asset>>();
  return {
    async page() {
      const text = await readFile(join(folder, 'index.html'), 'utf8').catch(whenMissing);
      if (text === undefined) return toPage(NOT_BUILT, 503);
      const nonce = randomBytes(18).toString('base64');
      return toPage(text.replaceAll(NONCE, nonce), 200, `'nonce-${nonce}'`);
    },
    async asset(name, request) {
      const type = /^\w[\w.-]{0,200}$/.test(name) ? TYPES[extname(name)] : undefined;
      if (type === undefined) return toResponse(notFound('Not found.'));
      const bytes = await readFile(join(folder, 'assets', name)).catch(whenMissing);
      if (bytes === undefined) return toResponse(notFound('Not found.'));
      const isHashed = /-[\w-]{8}\.\w+$/.test(name);
      const reading = (isHashed && assets.get(name)) || toAsset(bytes, type);
      if (isHashed) assets.set(name, reading);
      const { etag, packed } = await reading;
      const isPacked = packed !== undefined && /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
      const headers = {
        ...HEADERS,
        'content-type': type,
        'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
        etag,
        vary: 'accept-encoding',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      };
      if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
      return isPacked
        ? new Response(new Uint8Array(packed), { headers: { ...headers, 'content-encoding': 'gzip' } })
        : new Response(new Uint8Array(bytes), { headers });
    },
  };
}

interface Asset {
  readonly etag: string;
  /** Compressed; absent for fonts, which are compressed already. */
  readonly packed?: Buffer;
}

async function toAsset(bytes: Buffer, type: string): Promise<Asset> {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return type.startsWith('font/') ? { etag } : { etag, packed: await compress(bytes) };
}

/** The build beside the sources, or beside the bundles of the package. */
function builtFolder(): string {
  const parts = import.meta.dirname.split(/[\\/]/);
  const root = Math.max(parts.lastIndexOf('src'), parts.lastIndexOf('dist'));
  return join(parts.slice(0, root).join('/'), 'dist/ui');
}

function whenMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT' && cause.code !== 'EISDIR' && cause.code !== 'ENOTDIR') throw cause;
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Toolcrib</title></head><body>
<h1>The console is not built</h1>
<p>This server runs from its sources. Run <code>npm run build</code> in the folder of Toolcrib, then reload this page.</p>
<p>The REST API works without it: <a href="/openapi.json">/openapi.json</a>.</p>
</body></html>
`;

/** Builds the response of a page. Its policy allows files of this server alone, and styles with the nonce of this response. */
function toPage(html: string, status: number, nonce = ''): Response {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${nonce}`.trim(),
    "font-src 'self'",
    "img-src 'self' data: blob:", // results of tools contain pictures and sound
    'media-src data: blob:',
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  const headers = {
    ...HEADERS,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
  };
  return new Response(html, { status, headers });
}
