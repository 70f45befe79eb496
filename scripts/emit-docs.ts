import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaNode } from '../src/config/schema-node.ts';
import type { JsonSchema } from '../src/core/json.ts';
import { TOOL_ERROR_CODES, TOOL_ERRORS } from '../src/core/tool-error.ts';
import { AUDIT_METRICS, EXTENSION_ORDER } from '../src/crib/built-ins.ts';
import { configNode } from '../src/crib/config/config-schema.ts';
import { extensionsNode } from '../src/crib/config/guard-schema.ts';
import { flagRow, synopsis } from '../src/doors/cli/commands/print-help.ts';
import { AVAILABLE, COMMANDS } from '../src/doors/cli/commands.ts';
import { FLAGS, type FlagName, GLOBAL_FLAGS } from '../src/doors/cli/flags.ts';
import { REST_ERRORS, statusOf } from '../src/doors/rest/answers.ts';
import { FEED_EVENTS } from '../src/doors/rest/event-feed.ts';
import { LOST_EVENT } from '../src/doors/rest/event-stream.ts';
import { EVENTS } from '../src/doors/rest/event-watch.ts';
import type { Route } from '../src/doors/rest/route.ts';
import { ROUTES } from '../src/doors/rest/routes.ts';
import { AUDIT_GAUGES, INSTRUMENTS } from '../src/extensions/measure.ts';
import { METRICS } from '../src/extensions/metrics.ts';

/** Writes the lines of a generated part; `page` is the text around it. */
type Part = (page: string) => readonly string[];

/** The generated parts of the docs, by file and marker word. */
const PARTS: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  'docs/architecture.md': { order: orderTable },
  'docs/configuration.md': {
    extensions: () => optionTable(extensionsNode),
    results: () => optionTable({ properties: { results: configNode.properties?.results ?? {} } }),
    tasks: () => optionTable({ properties: { tasks: configNode.properties?.tasks ?? {} } }),
    schedules: () => optionTable({ properties: { 'schedules.NAME': memberOf(configNode.properties?.schedules) } }),
  },
  'docs/cli.md': { commands: commandTable, flags: flagTable },
  'docs/rest.md': { routes: routeTable },
  'docs/reference.md': {
    errors: errorTable,
    'errors-of-rest': restErrorTable,
    prometheus: metricTable,
    opentelemetry: instrumentTable,
    events: eventTable,
  },
};

/** Pages with generated parts. */
export const DOCS: readonly string[] = Object.keys(PARTS);

/** The node of the members of a map. */
function memberOf(map: SchemaNode = {}): SchemaNode {
  return map.additionalProperties || {};
}

/** Regenerates the parts of a page between `<!-- WORD: npm run schema -->` and `<!-- end -->`. */
export function emitDocs(page: string, text: string): string {
  return Object.entries(PARTS[page] ?? {}).reduce((before, [word, lines]) => {
    const part = new RegExp(`(<!-- ${word}: npm run schema -->\n)[^]*?(\n<!-- end -->)`);
    if (!part.test(before)) throw new Error(`${page} has no place for "${word}".`);
    return before.replace(part, (_all, begin, end) => `${begin}\n${lines(before).join('\n')}\n${end}`);
  }, text);
}

function orderTable(): readonly string[] {
  const yours = { priority: 500, name: 'yours', reason: 'default 500' };
  const rows = [...EXTENSION_ORDER, yours].toSorted((a, b) => b.priority - a.priority);
  return table(
    ['priority', 'extension', 'why here'],
    rows.map(({ priority, name, reason }) => [name === 'yours' ? '700-300' : `${priority}`, name, reason]),
  );
}

function commandTable(page: string): readonly string[] {
  const later = COMMANDS.filter(({ isLater }) => isLater === true).map(({ name }) => code(name));
  return [
    ...table(
      ['command', 'flags', 'purpose'],
      AVAILABLE.map((command) => [
        linked(page, command.name, synopsis(command)),
        (command.flags ?? []).map((flag) => code(`--${flag}`)).join(' '),
        command.summary,
      ]),
    ),
    '',
    `This version does not have ${later.join(', ')}, and says so.`,
  ];
}

function flagTable(): readonly string[] {
  const rows = (Object.keys(FLAGS) as FlagName[]).map((name) => {
    const [flag, summary] = flagRow(name);
    const isGlobal = GLOBAL_FLAGS.some((global) => global === name);
    const users = AVAILABLE.filter(({ flags = [] }) => flags.includes(name)).map((command) => code(command.name));
    return [code(flag), isGlobal ? 'every command' : users.join(', '), summary];
  });
  return table(['flag', 'of', 'meaning'], rows);
}

function routeTable(page: string): readonly string[] {
  const [later, available] = [true, false].map((isLater) =>
    ROUTES.filter(({ group }) => (group === 'later') === isLater),
  );
  const paths = new Set(later?.map(({ path }) => code(path)));
  return [
    ...table(
      ['route', 'for', 'purpose', 'takes', 'answers'],
      (available ?? []).map((route) => {
        const name = `${route.method} ${route.path}`;
        return [linked(page, name, name), route.who, route.says, takenBy(route), answerOf(route)];
      }),
    ),
    '',
    `Routes of later versions answer 501 to operators: ${[...paths].join(', ')}.`,
  ];
}

function takenBy({ query = {}, body }: Route): string {
  const names = Object.keys(query).map(code);
  return [...names, ...(body === undefined ? [] : [shapeOf(body)])].join(', ');
}

function answerOf({ answers }: Route): string {
  return Object.entries(answers)
    .map(([status, { schema, type = '' }]) => {
      const shape = schema === undefined ? type : shapeOf(schema);
      return status === '200' ? shape : `${status} ${shape}`;
    })
    .join('; ');
}

/** The members of an object, `?` marks optional ones; of several objects the first. */
function shapeOf(schema: JsonSchema): string {
  const [first] = (schema.oneOf ?? []) as readonly JsonSchema[]; // schemas of routes are JSON Schemas
  if (first !== undefined) return shapeOf(first);
  const properties = Object.keys(schema.properties ?? {});
  const required = (schema.required ?? []) as readonly string[]; // likewise
  const members = properties.map((name) => (required.includes(name) ? name : `${name}?`));
  return members.length === 0 ? 'an object' : code(`{ ${members.join(', ')} }`);
}

function errorTable(): readonly string[] {
  return table(
    ['code', 'REST', 'meaning', 'what to do'],
    TOOL_ERROR_CODES.map((name) => {
      const { meaning, remedy } = TOOL_ERRORS[name];
      return [code(name), `${statusOf(name)}`, meaning, remedy];
    }),
  );
}

function restErrorTable(): readonly string[] {
  return table(
    ['code', 'REST', 'meaning'],
    Object.entries(REST_ERRORS).map(([name, { status, meaning }]) => [code(name), `${status}`, meaning]),
  );
}

function metricTable(): readonly string[] {
  return table(
    ['name', 'type', 'labels', 'meaning'],
    [...Object.values(METRICS), ...AUDIT_METRICS].map(({ name, type, labels, help }) => [
      code(name),
      type,
      labels.map(code).join(', '),
      help,
    ]),
  );
}

function instrumentTable(): readonly string[] {
  const gauges = AUDIT_GAUGES.map((gauge) => ({ ...gauge, type: 'gauge', attributes: [] }));
  return table(
    ['metric', 'instrument, unit', 'attributes', 'meaning'],
    [...Object.values(INSTRUMENTS), ...gauges].map(({ name, type, unit, attributes, description }) => [
      code(name),
      `${type === 'upDownCounter' ? 'up-down counter' : type}, ${unit}`,
      attributes.map(code).join(', '),
      description,
    ]),
  );
}

function eventTable(): readonly string[] {
  return table(
    ['event', 'data'],
    [...Object.entries({ ...EVENTS, ...FEED_EVENTS }), [LOST_EVENT.name, LOST_EVENT.data] as const].map(
      ([name, data]) => [code(name), data],
    ),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' ');
  return [toLine(head), `|${head.map(() => '---|').join('')}`, ...rows.map(toLine)];
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** Shows `text` as code. If the page has a heading of this name, it links to it. */
function linked(page: string, heading: string, text: string): string {
  if (!page.split('\n').some((line) => line === `### ${heading}` || line === `### \`${heading}\``)) return code(text);
  const anchor = heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
  return `[${code(text)}](#${anchor})`;
}

/** A table with one row per option of every entry. */
function optionTable({ properties = {} }: SchemaNode): readonly string[] {
  const rows = Object.entries(properties).flatMap(([entry, node]) =>
    Object.entries(optionsOf(node)).map(([key, option]) => [
      code(`${entry}.${key}`),
      valuesOf(option),
      option.description ?? '',
    ]),
  );
  return table(['option', 'value', 'meaning'], rows);
}

/** The options of an entry. An entry that accepts `false` has them in its other branch. */
function optionsOf(node: SchemaNode): Readonly<Record<string, SchemaNode>> {
  return node.properties ?? node.anyOf?.find(({ properties }) => properties !== undefined)?.properties ?? {};
}

function valuesOf(node: SchemaNode): string {
  const [one, many] = node.anyOf ?? [];
  if (one !== undefined && many?.type === 'array') return `${valuesOf(one)} or a list of them`;
  if (node.anyOf !== undefined) return node.anyOf.map(valuesOf).join(' or ');
  if (node.enum !== undefined) return node.enum.map((word) => `\`${word}\``).join(', ');
  switch (node.type) {
    case 'integer':
      return `a whole number${node.minimum === undefined ? '' : ` from ${node.minimum}`}`;
    case 'boolean':
      return '`true`, `false`';
    case 'array':
      return `a list of ${node.items?.type === 'string' ? 'strings' : valuesOf(node.items ?? {})}`;
    case 'object':
      return node.properties === undefined ? 'a map' : `\`{ ${Object.keys(node.properties).join(', ')} }\``;
    default:
      return node.use === 'selector' ? 'a selector' : 'a string';
  }
}

// Run by `npm run schema`; a test fails if the docs are outdated.
if (import.meta.main) {
  for (const page of DOCS) {
    const file = join(import.meta.dirname, '..', page);
    writeFileSync(file, emitDocs(page, readFileSync(file, 'utf8')));
  }
}
