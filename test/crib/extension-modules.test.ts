import { describe, expect, it } from 'vitest';
import { cribOf, folderWith } from './workshop.ts';

const tools = [{ name: 'tool', description: '', input: {}, run: () => 'ran' }];

/** The result of a call with the extension of this module. */
async function callUnder(text: string, entry: object = {}, reference = './mine.mjs') {
  const extensions = { mine: { module: reference, ...entry } };
  const folder = folderWith({ 'toolcrib.yaml': JSON.stringify({ extensions }), 'mine.mjs': text, 'mine.cjs': text });
  const crib = await cribOf(folder, { tools });
  const result = await (await crib.open()).call('tool');
  return { crib, result, said: result.status === 'failed' ? result.error.message : '' };
}

const VETO = `veto() { return 'no'; }`;
const CLASS = `class Guard {
  #words = 'no';
  constructor(options = {}) { this.#words = options.words ?? this.#words; }
  veto() { return this.#words; }
}`;

describe('a module of the configuration that is a guard', () => {
  it.each<[string, string, string?]>([
    ['a default export', `export default { ${VETO} };`],
    ['the only export', `export const guard = { ${VETO} };`],
    ['an export that is named', `export const guard = { ${VETO} }; export const other = 1;`, './mine.mjs#guard'],
    ['hooks that are exported', `export function ${VETO}\nexport const priority = 600;`],
    ['one hook that is exported', `export function ${VETO}`],
    ['the hook before of seed 003', `export async function before_execute() { throw new Error('no'); }`],
    ['a function that makes one', `export default () => ({ ${VETO} });`],
    ['a function that promises one', `export default async () => ({ ${VETO} });`],
    ['an instance of a class', `${CLASS}\nexport default new Guard();`],
    ['a class', `${CLASS}\nexport default Guard;`],
    ['a function that makes an instance', `${CLASS}\nexport const make = (options) => new Guard(options);`],
    ['a module of CommonJS', `module.exports = { ${VETO} };`, './mine.cjs'],
    ['hooks that CommonJS exports', `exports.veto = () => 'no';`, './mine.cjs'],
    ['hooks beside the default that has them', `export function ${VETO}\nexport default { veto };`],
  ])('by %s refuses the call', async (_, text, reference) => {
    const { result, said } = await callUnder(text, {}, reference);
    expect(result).toMatchObject({ ok: false });
    expect(said).toMatch(/^no$|"mine" failed, so the call was refused/);
  });

  it('is created with the options of its entry and runs at the priority of the entry', async () => {
    for (const last of ['export default Guard;', 'export default (options) => new Guard(options);']) {
      const { crib, said } = await callUnder(`${CLASS}\n${last}`, { options: { words: 'never' }, priority: 'high' });
      expect(said).toBe('never');
      expect(crib.extensions.list().find(({ name }) => name === 'mine')?.priority).toBe('high');
    }
  });

  it('keeps its state as an observer, too', async () => {
    const text = `class Seen { #count = 0; priority = 500; onEnd() { globalThis.seenByExtension = ++this.#count; } }
export default new Seen();`;
    await callUnder(text);
    expect((globalThis as { seenByExtension?: number }).seenByExtension).toBe(1);
  });
});

describe('a module of the configuration that would never be called', () => {
  it.each<[string, string, string]>([
    ['a misspelt hook', `export default { vetto() { return 'no'; } };`, 'Did you mean "veto"?'],
    ['a misspelt hook of a module', `export const priority = 600; export function vetto() {}`, 'Did you mean "veto"?'],
    ['one misspelt hook of a module', `export function vetto() { return 'no'; }`, 'Did you mean "veto"?'],
    ['a misspelt method', `export default new (class { vetto() {} veto() {} })();`, 'Did you mean "veto"?'],
    ['no hook', `export default { priority: 500 };`, 'Extension "mine" has no hook'],
    ['no hook of an instance', `export default new (class { priority = 500; check() {} })();`, 'has no hook'],
    ['an unknown member', `export default { ${VETO}, colour: 'red' };`, 'unknown member "colour"'],
    ['another export of a module', `export function ${VETO} export const colour = 'red';`, 'unknown member "colour"'],
    [
      'a hook beside the default',
      `export function ${VETO} export default { onEnd() {} };`,
      'exports "veto" next to a default export',
    ],
    ['nothing', `export default undefined;`, 'exports neither an extension nor'],
    ['a function that makes nothing', `export default () => undefined;`, 'exports neither an extension nor'],
  ])('by %s is refused', async (_, text, message) => {
    await expect(callUnder(text)).rejects.toMatchObject({
      name: 'ToolcribError',
      message: expect.stringContaining(message),
    });
  });
});
