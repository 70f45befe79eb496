import type { Leaf } from './leaves.ts';

/** An option of the extension `timeout`. */
const configOption: Leaf = {
  row: 'an option of the configuration',
  name: 'leastMs',
  files: {},
  lines: [
    {
      file: 'src/extensions/timeout.ts',
      after: /^ {2}options: object\([^\n]*\{\n/m,
      text: `    leastMs: whole('The least that a call may take; default 1.'),\n`,
    },
    { file: 'src/extensions/timeout.ts', after: /^ {2}make\(\{/m, text: ' leastMs = 1,' },
    { file: 'src/extensions/timeout.ts', after: /const timeoutMs = /, text: 'Math.max(leastMs, ' },
    { file: 'src/extensions/timeout.ts', after: /const timeoutMs = [^;]*(?=;)/, text: ')' },
  ],
};

/** A limit that the extension `resultSize` enforces. */
const policyField: Leaf = {
  row: 'a field of a policy',
  name: 'maxParts',
  files: {},
  lines: [
    { file: 'src/core/policy.ts', after: /^export interface Limits \{\n/m, text: '  readonly maxParts?: number;\n' },
    { file: 'src/core/policy.ts', after: /^export const LIMIT_KEYS = \[\n/m, text: `  'maxParts',\n` },
    { file: 'src/core/policy.ts', after: /^export const LEAST_VALUES = \{\n/m, text: '  maxParts: 1,\n' },
    {
      file: 'src/core/policy.ts',
      after: /^export function tightenPolicy\([^\n]*\n {2}return pruned\(\{\n/m,
      text: '    maxParts: both(a.maxParts, b.maxParts, Math.min),\n',
    },
    {
      file: 'src/config/policy-schema.ts',
      after: /^export const policyNode = typed\(\n[^\n]*\n[^\n]*\{\n/m,
      text: `    maxParts: whole('No result may have more parts.'),\n`,
    },
    {
      file: 'src/extensions/result-size.ts',
      after: /applies: \(spec\) => /,
      text: 'spec.policy.maxParts !== undefined || ',
    },
    {
      file: 'src/extensions/result-size.ts',
      after: /if \(result\.status === 'waiting'\) return result;\n/,
      text: `  const { maxParts = Number.POSITIVE_INFINITY } = call.spec.policy;
  if ((result.content ?? []).length > maxParts) return failed(toolError('too_large', 'Too many parts.'));
`,
    },
  ],
};

/** An option that reaches the setup of bundles. */
const cribOption: Leaf = {
  row: 'an option of `createCrib`',
  name: 'watchword',
  files: {},
  lines: [
    {
      file: 'src/crib/crib-options.ts',
      after: /^export interface CribOptions \{\n/m,
      text: '  readonly watchword?: string;\n',
    },
    { file: 'src/crib/crib-options.ts', after: /^const KEYS = \[\n/m, text: `  'watchword',\n` },
    {
      file: 'src/crib/crib-definition.ts',
      after: /options: Object\.freeze\(\{ /,
      text: 'watchword: options.watchword, ',
    },
  ],
};

/** What is added to files that are there. */
export const OPTIONS: readonly Leaf[] = [configOption, policyField, cribOption];
