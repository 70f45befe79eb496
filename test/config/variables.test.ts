// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { describe, expect, it } from 'vitest';
import { readConfigObject } from '../../src/crib/config/load-config.ts';
import { loadYaml, mistakesIn } from './write.ts';

const read = async (defaultProfile: string, env: Readonly<Record<string, string>> = {}) =>
  (await readConfigObject({ defaultProfile }, { folder: '/', env })).config.defaultProfile;

describe('variables come from the environment', () => {
  it.each([
    ['as the whole text', '${NAME}', 'value'],
    ['inside a text', 'a-${NAME}-b', 'a-value-b'],
    ['several times', '${NAME}${OTHER}', 'valueother'],
    ['with a default that is not needed', '${NAME:-default}', 'value'],
    ['with a default', '${MISSING:-default}', 'default'],
    ['with an empty default', 'a${MISSING:-}', 'a'],
    ['with a default that holds colons and dashes', '${MISSING:-a:-b}', 'a:-b'],
    ['with a default for what is set but empty', '${EMPTY:-default}', 'default'],
    ['and may be empty', 'a${EMPTY}', 'a'],
    ['not where the opening is escaped', '$${NAME}', '${NAME}'],
    ['beside an escape', '$${NAME} ${NAME}', '${NAME} value'],
    ['not where there are no braces', '$NAME $ {', '$NAME $ {'],
  ])('%s', async (_, text, expected) => {
    expect(await read(text, { NAME: 'value', OTHER: 'other', EMPTY: '' })).toBe(expected);
  });

  it('and their values are not expanded again', async () => {
    expect(await read('${A}', { A: '${B}', B: 'no' })).toBe('${B}');
    expect(await read('${A}', { A: '$${B}' })).toBe('$${B}');
  });

  it('and their values cannot become syntax', async () => {
    const { config } = await loadYaml('defaultProfile: ${A}\n', { A: 'x\nserver: { port: 1 }' });
    expect(config).toEqual({ defaultProfile: 'x\nserver: { port: 1 }', sources: {} });
  });

  it('and may be a number or true and false', async () => {
    const text =
      'server: { port: "${PORT:-80}" }\naccess: { keys: "${KEYS}" }\nextensions: { metrics: { otel: "${O}" } }';
    const { config } = await loadYaml(text, { KEYS: 'false', O: 'true' });
    expect(config).toMatchObject({
      server: { port: 80 },
      access: { keys: false },
      extensions: { metrics: { otel: true } },
    });
  });

  it('and stay texts where a text is required', async () => {
    const text = 'defaultProfile: ${A}\nsources: { a: { mcp: { command: x, env: { B: "${B}" } } } }';
    const { config } = await loadYaml(text, { A: '12', B: 'true' });
    expect(config).toMatchObject({ defaultProfile: '12', sources: { a: { mcp: { env: { B: 'true' } } } } });
  });

  it('in free data at any depth, but not in names', async () => {
    const settings = { list: ['${A}', { deep: '${A}' }], '${A}': 1 };
    const { config } = await readConfigObject({ profiles: { p: { settings } } }, { folder: '/', env: { A: 'value' } });
    expect(config.profiles?.p?.settings).toEqual({ list: ['value', { deep: 'value' }], '${A}': 1 });
  });
});

describe('a variable without a value is an error', () => {
  it.each([
    ['one that is not set', '${MISSING}', /needs the environment variable MISSING, which is not set: set it, or write/],
    ['one that every object has', '${constructor}', /needs the environment variable constructor/],
    ['one that is not a name', '${a b}', /has "\$\{a b\}", which is not a variable: write \$\{NAME\}/],
    ['one that is empty', '${}', /which is not a variable/],
    ['one that is never closed', 'a ${b', /has an unclosed "\$\{"/],
    ['one inside a default', '${A:-${B}}', /has a variable inside the default of \$\{A\}/],
    ['one of an editor outside a pasted block', '${env:HOME}', /which is not a variable/],
  ])('%s', async (_, text, message) => {
    expect(await mistakesIn(`defaultProfile: '${text}'`)).toMatch(message);
  });

  it('where a number is required, too', async () => {
    expect(await mistakesIn('server: { port: "${PORT}" }')).toMatch(/server\.port needs the environment variable PORT/);
  });

  it('in braces without quotes, where YAML takes its brace for a map', async () => {
    const message = await mistakesIn('server: { port: ${PORT} }');
    expect(message).toMatch(/:1:18: Inside braces and brackets a variable needs quotes: "\$\{PORT\}"\.\n/);
  });

  it('each of several in one text', async () => {
    expect(await mistakesIn('defaultProfile: "${A} ${B}"')).toMatch(/variable A,[\s\S]*variable B,/);
  });
});
