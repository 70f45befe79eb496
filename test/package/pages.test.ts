import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from './install-packed.ts';
import { blocksOf, missingLines, runBlocks } from './run-page.ts';

const PAGES = ['README.md', ...globSync('docs/guides/*.md', { cwd: ROOT }).sort()];
/** Blocks that are looked at, and not run: pictures and parts of a file. */
const LOOKED_AT = ['text', 'mermaid'];

/** Titles as GitHub makes anchors of them. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

it.each(['README.md', 'SECURITY.md', 'AGENTS.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()])(
  '%s links to what is there',
  (page) => {
    const links = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const dead = links.flatMap(([link, path = '', anchor]) => {
      const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      if (!existsSync(file)) return [link];
      if (anchor === undefined) return [];
      const titles = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => anchorOf(title));
      return titles.includes(anchor) ? [] : [link];
    });
    expect(dead).toEqual([]);
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

describe.each(PAGES)('%s', (page) => {
  const blocks = blocksOf(page);

  it('has blocks that a test can run, and says where each belongs', () => {
    for (const { language, file, code } of blocks) {
      if (language === 'json') JSON.parse(code);
      else if (language === 'yaml') parse(code);
      else if (language !== 'console' && !LOOKED_AT.includes(language)) expect(file, code).toBeDefined();
    }
  });

  it('does what it shows', async () => {
    const wrong = (await runBlocks(blocks)).flatMap((ran) => {
      const missing = missingLines(ran);
      const isWrong = missing.length > 0 || (ran.shown.length === 0 && ran.code !== 0);
      return isWrong ? [{ ...ran, missing }] : [];
    });
    expect(wrong).toEqual([]);
  });
});
