import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TOOL_ERROR_CODES } from '../../src/core/tool-error.ts';
import { AVAILABLE, COMMANDS } from '../../src/doors/cli/commands.ts';
import { statusOf } from '../../src/doors/rest/answers.ts';
import { FEED_EVENTS } from '../../src/doors/rest/event-feed.ts';
import { EVENTS } from '../../src/doors/rest/event-watch.ts';
import { ROUTES } from '../../src/doors/rest/routes.ts';
import { AUDIT_GAUGES, INSTRUMENTS } from '../../src/extensions/measure.ts';
import { METRICS } from '../../src/extensions/metrics.ts';
import { createCrib } from '../../src/index.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The rows of the tables under a heading, each a list of cells. */
function rowsUnder(page: string, heading: string): readonly (readonly string[])[] {
  const [, below = ''] = read(page).split(new RegExp(`^#+ ${heading}$`, 'm'));
  const [section = ''] = below.split(/^#/m);
  return [...section.matchAll(/^\| (.*) \|$/gm)].map(([, row = '']) => row.split(' | ')).slice(1);
}

/** The words in backticks of the first column. */
const namesUnder = (page: string, heading: string): readonly string[] =>
  rowsUnder(page, heading).flatMap(([cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

describe('docs/reference.md', () => {
  it('lists the error codes with their status in REST', () => {
    const rows = rowsUnder('docs/reference.md', 'Error codes').map(([code, status]) => [code, Number(status)]);
    expect(rows).toEqual(TOOL_ERROR_CODES.map((code) => [`\`${code}\``, statusOf(code)]));
  });

  it('lists the metrics of Prometheus with their types', async () => {
    const crib = await createCrib({
      tools: [{ name: 'hello', description: 'Greet', run: () => 'Hello' }],
      store: 'memory',
    });
    await (await crib.open()).call('hello');
    const families = [...(await crib.metrics()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [
      name,
      type,
    ]);
    await crib.close();
    const rows = rowsUnder('docs/reference.md', 'Prometheus metrics').map(([name, type]) => [name?.slice(1, -1), type]);
    expect(rows).toEqual(families);
  });

  it('lists the labels that the samples of Prometheus have', async () => {
    const crib = await createCrib({ tools: [{ name: 'hello', description: 'Greet', run: () => 'Hello' }] });
    await (await crib.open()).call('hello');
    const text = await crib.metrics();
    await crib.close();
    const labelsOf = (name: string) => {
      const [, labels = ''] = new RegExp(`^${name}(?:_count)?{(.*)}`, 'm').exec(text) ?? [];
      return [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label);
    };
    const { calls, duration, inFlight } = METRICS;
    for (const { name, labels } of [calls, duration, inFlight]) expect(labelsOf(name)).toEqual(labels);
  });

  it('lists the instruments of OpenTelemetry', () => {
    const names = [...Object.values(INSTRUMENTS), ...AUDIT_GAUGES].map(({ name }) => name);
    expect(rowsUnder('docs/reference.md', 'OpenTelemetry metrics').map(([name]) => name?.slice(1, -1))).toEqual(names);
  });

  it('lists the events', () => {
    const names = rowsUnder('docs/reference.md', 'Events').map(([name]) => name?.slice(1, -1));
    expect(names).toEqual([...Object.keys({ ...EVENTS, ...FEED_EVENTS }), 'lost']);
  });
});

it('docs/rest.md lists every route with its allowed callers', () => {
  const rows = rowsUnder('docs/rest.md', 'Routes').map(([route = '', who]) => [/`(.*)`/.exec(route)?.[1], who]);
  const available = ROUTES.filter(({ group }) => group !== 'later');
  expect([...rows].sort()).toEqual(available.map(({ method, path, who }) => [`${method} ${path}`, who]).sort());
});

describe('docs/cli.md', () => {
  it('lists every command', () => {
    const named = namesUnder('docs/cli.md', 'Commands').map((cell) => cell.split(' ')[0]);
    expect([...new Set(named)].sort()).toEqual(AVAILABLE.map(({ name }) => name).sort());
  });

  it('names every flag of every command', () => {
    const page = read('docs/cli.md');
    const flags = new Set(COMMANDS.flatMap(({ flags = [] }) => flags));
    expect([...flags].filter((flag) => !new RegExp(`--${flag}(?![\\w-])`).test(page))).toEqual([]);
  });
});

/** The tests that a page names: each file, with the quoted names that follow it. */
function namedTests(page: string): readonly (readonly [file: string, names: readonly string[]])[] {
  const parts = read(page).split(/(?=`test\/[\w/.-]+\.ts`)/);
  return parts.slice(1).map((part) => {
    const [file = '', ...cells] = part.split('\n')[0]?.split('`').slice(1) ?? [];
    const cell = cells.join('`').split(' |')[0] ?? '';
    return [file, [...cell.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name)];
  });
}

describe.each(['docs/security.md', 'docs/reliability.md'])('%s', (page) => {
  const tests = namedTests(page);

  it('names test files that exist', () => {
    expect(tests.length).toBeGreaterThan(50);
    expect(tests.filter(([file]) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('quotes test names that their file has', () => {
    const isMissing = (file: string, name: string) => !read(file).replaceAll("\\'", "'").includes(name);
    const missing = tests.flatMap(([file, names]) =>
      names.filter((name) => isMissing(file, name)).map((name) => `${file}: "${name}"`),
    );
    expect(tests.flatMap(([, names]) => names).length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });
});
