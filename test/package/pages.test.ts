import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { missingPackage, startPostgres } from '../store/postgres-server.ts';
import { startFakeModels } from './fake-models.ts';
import { ROOT, run } from './install-packed.ts';
import { compileCache, installPacked } from './packed-once.ts';
import { anchorOf, blocksOf, DATABASE, deadLinks, runBlocks, wrongAmong } from './run-page.ts';

const PAGES = ['README.md', ...globSync('docs/guides/*.md', { cwd: ROOT }).sort()];
/** Blocks that are looked at, and not run: pictures and parts of a file. */
const LOOKED_AT = ['text', 'mermaid'];

it.each(['README.md', 'SECURITY.md', 'AGENTS.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()])(
  '%s has no dead links',
  (page) => {
    expect(deadLinks(ROOT, page)).toEqual([]);
  },
);

/** The reference pages. The glossary is one table, and the page about other designs has a form of its own. */
const REFERENCES = globSync('docs/*.md', { cwd: ROOT, exclude: ['docs/glossary.md', 'docs/migrate.md'] }).sort();

it.each(REFERENCES)('%s begins with a link to a guide and a table of contents', (page) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const [beginning = '', ...sections] = text.split(/^## /m);
  expect(beginning).toContain('](guides/');
  const anchors = sections.map((section) => `](#${anchorOf(section.split('\n')[0] ?? '')})`);
  expect(anchors.filter((anchor) => !beginning.includes(anchor))).toEqual([]);
});

it('every page has TypeScript that compiles', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-blocks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const page of PAGES) {
    for (const { language, file = '', code } of blocksOf(page)) {
      if (language !== 'ts') continue;
      const path = join(folder, page, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code);
    }
  }
  const paths = {
    toolcrib: [join(ROOT, 'src/index.ts')],
    'toolcrib/formats/*': [join(ROOT, 'src/formats/*.ts')],
    'toolcrib/testing': [join(ROOT, 'src/testing/index.ts')],
  };
  const compilerOptions = { paths, allowImportingTsExtensions: true, typeRoots: [join(ROOT, 'node_modules/@types')] };
  const project = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['**/*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const tsc = run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', folder]);
  expect(await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({ stdout: '' });
});

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksOf(page);
  const needsDatabase = blocks.some(({ code }) => code.includes(DATABASE));
  const database = async (): Promise<string> => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    return server.urlOf('postgres');
  };

  it('has blocks that a test can run, each with its file', () => {
    for (const { language, file, code } of blocks) {
      if (language === 'json') JSON.parse(code);
      else if (language === 'yaml') parse(code);
      else if (language !== 'console' && !LOOKED_AT.includes(language)) expect(file, code).toBeDefined();
    }
  });

  it.skipIf(needsDatabase && missingPackage() !== undefined)(
    'does what it shows',
    async () => {
      const models = await startFakeModels();
      onTestFinished(() => models.close());
      const variables = { ...models.env, NODE_COMPILE_CACHE: compileCache() };
      const options = { variables, install: installPacked, ...(needsDatabase && { database: await database() }) };
      expect(wrongAmong(await runBlocks(blocks, options))).toEqual([]);
    },
    180_000,
  ); // a page starts up to thirty processes, one after the other
});
