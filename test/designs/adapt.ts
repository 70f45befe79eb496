import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One design of docs/migrate.md. */
export interface Design {
  readonly title: string;
  /** Their name and ours; capital words stand for anything. */
  readonly names: readonly (readonly [theirs: string, ours: string])[];
  /** Their example, in Python. */
  readonly before: string;
  /** The same as a program of ours. */
  readonly after: string;
}

const PAGE = join(import.meta.dirname, '../../docs/migrate.md');

/** The designs of the page. */
export function readDesigns(): readonly Design[] {
  return readFileSync(PAGE, 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.split('\n')[0] ?? '',
      names: namesIn(section),
      before: blockIn(section, 'python'),
      after: blockIn(section, 'ts'),
    }));
}

function namesIn(section: string): Design['names'] {
  return [...section.matchAll(/^\| `([^|]*)` \| `([^`|]*)`[^|]* \|$/gm)]
    .filter(([, theirs = '']) => !theirs.includes('`')) // several names in one row are for readers
    .map(([, theirs = '', ours = '']) => [theirs, ours] as const);
}

function blockIn(section: string, language: string): string {
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1] ?? '';
}

/** Their example with our names, statement by statement; nothing else changes but the syntax. */
export function adapt({ names, before }: Pick<Design, 'names' | 'before'>): readonly string[] {
  const longestFirst = names.toSorted(([a], [b]) => b.length - a.length);
  return toStatements(before).map((statement) => longestFirst.reduce(replace, statement));
}

/** Text without what a formatter may change. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, '').replaceAll('"', "'");
}

const PLACEHOLDER = /\b[A-Z]{3,}\b/g;

function replace(text: string, [theirs, ours]: readonly [string, string]): string {
  const words = [...theirs.matchAll(PLACEHOLDER)].map(([word]) => word);
  const escaped = theirs.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(PLACEHOLDER, '(.+?)');
  return text.replace(new RegExp(escaped, 'g'), (...found: string[]) =>
    ours.replace(PLACEHOLDER, (word) => (words.includes(word) ? (found[words.indexOf(word) + 1] ?? word) : word)),
  );
}

/** Python as TypeScript: functions and loops of one statement, classes of such functions, literals, assignments. */
function toStatements(python: string): readonly string[] {
  const lines = python.split('\n').filter((line) => line.trim() !== '');
  return lines.flatMap((line, index) => {
    const isInner = line.startsWith('    ');
    const text = literals(line.trim());
    const next = literals((lines[index + 1] ?? '').trim());
    const closing = isInner && !(lines[index + 1] ?? '').startsWith('    ') && isInClass(lines, index) ? ['}'] : [];
    const method = /^(async )?def (\w+)\(self(?:, )?(.*)\):$/.exec(text);
    if (method) return [`${method[1] ?? ''}${method[2]}(${method[3]}) { ${next}; }`, ...closingAfter(lines, index)];
    const plain = /^def (\w+)\((.*)\):$/.exec(text);
    if (plain) return [`const ${plain[1]} = (${plain[2]}) => ${next.replace(/^return /, '')};`];
    const loop = /^for (\w+) in (.*):$/.exec(text);
    if (loop) return [`for (const ${loop[1]} of ${loop[2]}) ${next};`];
    if (/^class .*:$/.test(text)) return [`${text.slice(0, -1)} {`];
    if (/^\s*(def|async def|for)\b/.test(lines[index - 1] ?? '')) return []; // said with its head
    if (isInner) return [`${text};`, ...closing];
    return [/^\w+ = /.test(text) ? `const ${text};` : `${text};`];
  });
}

function isInClass(lines: readonly string[], index: number): boolean {
  const head = lines.slice(0, index).findLast((line) => !line.startsWith('    '));
  return head?.startsWith('class ') === true;
}

function closingAfter(lines: readonly string[], index: number): readonly string[] {
  return (lines[index + 2] ?? '').startsWith('    ') ? [] : ['}'];
}

function literals(text: string): string {
  return text
    .replace(/f"([^"]*)"/g, (_, inner: string) => `\`${inner.replace(/\{(\w)/g, '${$1')}\``)
    .replace(/\bprint\(/g, 'console.log(')
    .replace(/ == /g, ' === ');
}
