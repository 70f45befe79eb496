import { OPTIONS } from './option-leaves.ts';

/** A small leaf of one sort, and all that it takes to add it: files that are new, and lines in files that are there. */
export interface Leaf {
  /** What its row in AGENTS.md begins with. */
  readonly row: string;
  /** Stands for NAME in the row, and occurs nowhere else. */
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly lines: readonly Line[];
}

/** A text that is put in after the one place that `after` matches. */
interface Line {
  readonly file: string;
  readonly after: RegExp;
  readonly text: string;
}

const TOP = /^(?=import )/;

const extension: Leaf = {
  row: 'an extension',
  name: 'curfew',
  files: {
    'src/extensions/curfew.ts': `import type { ExtensionRecord } from '../config/records.ts';
import { object, text } from '../config/schema-node.ts';
import type { CurfewConfig } from '../config/types/guards.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
export const curfew: ExtensionRecord<CurfewConfig> = {
  name: 'curfew',
  priority: 640,
  reason: 'refuses before anything is spent',
  options: object('Refuses calls of one tool.', { tool: text('The tool.') }),
  make({ tool }) {
    return {
      applies: ({ name }) => name === tool,
      wrap: ({ spec }) => failed(toolError('denied', \`"\${spec.name}" sleeps.\`)),
    };
  },
};
`,
  },
  lines: [
    { file: 'src/extensions/index.ts', after: TOP, text: `import { curfew } from './curfew.ts';\n` },
    {
      file: 'src/extensions/index.ts',
      after: /^export const EXTENSIONS: readonly ExtensionRecord\[\] = \[\n/m,
      text: '  curfew,\n',
    },
  ],
};

const kind: Leaf = {
  row: 'a kind',
  name: 'echo',
  files: {
    'src/kinds/echo/echo-kind.ts': `import type { Kind } from '../../config/records.ts';
import { object, typed, whole } from '../../config/schema-node.ts';
import type { EchoConfig } from '../../config/types/guards.ts';
import { toResult } from '../../core/tool-result.ts';
export const echoKind: Kind<'echo', EchoConfig> = {
  kind: 'echo',
  failsWith: 'nothing',
  options: typed('EchoConfig', object<EchoConfig>('Tools that answer with a text.', { times: whole('How often.') })),
  async open({ options }) {
    return {
      executor: {
        kind: 'echo',
        runSchema: { type: 'object', required: ['says'], properties: { says: { type: 'string' } } },
        execute: (_call, run) => toResult(String(run.says).repeat(options().times ?? 1)),
      },
    };
  },
};
`,
  },
  lines: [
    { file: 'src/kinds/index.ts', after: TOP, text: `import { echoKind } from './echo/echo-kind.ts';\n` },
    { file: 'src/kinds/index.ts', after: /^export const KINDS = \[/m, text: 'echoKind, ' },
  ],
};

const format: Leaf = {
  row: 'a vendor format',
  name: 'haiku',
  files: {
    'src/formats/haiku.ts': `import type { ToolSpec } from '../core/tool-spec.ts';

export function toHaiku(specs: readonly ToolSpec[]): string[] {
  return specs.map(({ name, description }) => \`\${name}: \${description}\`);
}
`,
  },
  lines: [
    {
      file: 'package.json',
      after: /^ {2}"exports": \{\n/m,
      text: '    "./formats/haiku": { "types": "./dist/formats/haiku.d.ts", "default": "./dist/formats/haiku.js" },\n',
    },
  ],
};

const source: Leaf = {
  row: 'a source',
  name: 'numerals',
  files: {
    'src/sources/numerals.ts': `import type { OwnEntry, SourceRecord } from '../config/records.ts';
import { whole } from '../config/schema-node.ts';
import type { NumeralsSourceConfig } from '../config/types/sources.ts';
import { createEntryReader } from '../specs/spec-entry.ts';
import { createListing } from '../specs/spec-listing.ts';

export const numeralsSource: SourceRecord<OwnEntry<NumeralsSourceConfig>> = {
  key: 'numerals',
  description: 'Numbered tools.',
  properties: { numerals: whole('How many.') },
  make(name, { numerals }) {
    return {
      name,
      async start() {
        const listing = createListing();
        const read = createEntryReader({ source: name });
        const run = () => ({ kind: 'http', method: 'GET', url: 'https://example.com' });
        listing.show(Array.from({ length: numerals }, (_, index) => read({ name: \`numeral_\${index + 1}\`, run: run() })));
        return { ...listing, close: async () => listing.close() };
      },
    };
  },
};
`,
  },
  lines: [
    { file: 'src/sources/index.ts', after: TOP, text: `import { numeralsSource } from './numerals.ts';\n` },
    { file: 'src/sources/index.ts', after: /^export const SOURCES = \[/m, text: 'numeralsSource, ' },
  ],
};

const table: Leaf = {
  row: 'a table of the store',
  name: 'greetings',
  files: {
    'src/store/greetings.ts': `import type { StoredGreetings } from '../core/ports/store.ts';
import { type SqlEngine, sql, textOf } from './engines/sql-engine.ts';

export function greetings(engine: SqlEngine): StoredGreetings {
  return {
    get: async (name) => {
      const [row] = await engine.read(sql\`SELECT words FROM toolcrib_greetings WHERE name = \${name}\`);
      return row === undefined ? undefined : textOf(row, 'words');
    },
    put: async (name, words) => {
      await engine.write([sql\`INSERT INTO toolcrib_greetings (name, words) VALUES (\${name}, \${words})\`]);
    },
  };
}
`,
  },
  lines: [
    { file: 'src/store/tables.ts', after: TOP, text: `import { greetings } from './greetings.ts';\n` },
    {
      file: 'src/store/tables.ts',
      after: /^export function openTables\([\s\S]*?^ {2}return \{\n/m,
      text: '    greetings: greetings(engine),\n',
    },
    {
      file: 'src/store/tables.ts',
      after: /^export const MIGRATIONS[\s\S]*?(?=^\];\n)/m,
      text: `  ['CREATE TABLE toolcrib_greetings (name TEXT PRIMARY KEY, words TEXT NOT NULL)'],\n`,
    },
    {
      file: 'src/core/ports/store.ts',
      after: /^export interface Store \{\n/m,
      text: '  readonly greetings: StoredGreetings;\n',
    },
    {
      file: 'src/core/ports/store.ts',
      after: /$(?![\s\S])/,
      text: `
export interface StoredGreetings {
  get(name: string): Promise<string | undefined>;
  put(name: string, words: string): Promise<void>;
}
`,
    },
  ],
};

const route: Leaf = {
  row: 'a route of REST',
  name: 'motto',
  files: {
    'src/doors/rest/routes/motto-routes.ts': `import { ok } from '../answers.ts';
import type { Route } from '../route.ts';
import { object, text } from '../shapes.ts';

export const MOTTO_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/motto',
    group: 'pages',
    says: 'The motto.',
    who: 'caller',
    answers: { 200: { says: 'The motto.', schema: object({ motto: text() }) } },
    run: () => ok({ motto: 'one leaf, one file' }),
  },
];
`,
  },
  lines: [
    {
      file: 'src/doors/rest/routes.ts',
      after: TOP,
      text: `import { MOTTO_ROUTES } from './routes/motto-routes.ts';\n`,
    },
    {
      file: 'src/doors/rest/routes.ts',
      after: /^export const ROUTES: readonly Route\[\] = \[\n/m,
      text: '  ...MOTTO_ROUTES,\n',
    },
  ],
};

const command: Leaf = {
  row: 'a command',
  name: 'salute',
  files: {
    'src/doors/cli/commands/salute.ts': `import type { ExitCode, Invocation } from '../command.ts';
import { print } from '../output.ts';

export async function salute({ words }: Invocation): Promise<ExitCode> {
  print(\`salute, \${words[0]}\`);
  return 0;
}
`,
  },
  lines: [
    {
      file: 'src/doors/cli/commands.ts',
      after: /^export const COMMANDS: readonly Command\[\] = \[\n/m,
      text: `  {
    name: 'salute',
    summary: 'a salute',
    words: [{ name: 'WHOM' }],
    load: async () => (await import('./commands/salute.ts')).salute,
  },
`,
    },
  ],
};

/** One leaf for each row. */
export const LEAVES: readonly Leaf[] = [extension, kind, format, source, table, route, command, ...OPTIONS];
