import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedact } from '../../../src/system/secrets/redact.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';

/** What takes these values out of texts; each is a secret of its key. */
function redactOf(env: Record<string, string>): (text: string) => string {
  const declarations = Object.fromEntries(Object.keys(env).map((name) => [name, { env: name }]));
  const secrets = createSecrets(declarations, { env, folder: '.' });
  secrets.noteEnvironment();
  return createRedact(secrets);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const inForm = (text: string) => new URLSearchParams([['q', text]]).toString();
const lowerHex = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
const everyByte = (text: string) =>
  Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const strict = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** Ways in which a secret may come to stand in a text. */
const SPELLINGS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  base64: (value) => base64(value),
  'base64 for URLs, without padding': (value) => base64url(value),
  'base64 after one byte': (value) => base64(`u${value}`),
  'base64 after two bytes': (value) => base64(`u:${value}`),
  'base64 before more': (value) => base64url(`user:${value}@host`),
  'base64 in a URL': (value) => encodeURIComponent(base64(value)),
  'in a URL': (value) => encodeURIComponent(value),
  'in a URL, in small letters': (value) => lowerHex(encodeURIComponent(value)),
  'in a URL, all that can be encoded': (value) => strict(value),
  'in a URL in a URL': (value) => encodeURIComponent(encodeURIComponent(value)),
  'in a URL in a URL in a URL, in small letters': (value) =>
    lowerHex(encodeURIComponent(encodeURIComponent(encodeURIComponent(value)))),
  'in a URL, every byte encoded': (value) => everyByte(value),
  'in a URL in a URL, every byte encoded': (value) => encodeURIComponent(everyByte(value)),
  'in JSON, every character encoded': (value) =>
    value.replace(/./gsu, (character) =>
      Array.from(
        { length: character.length },
        (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    ),
  'in a path': (value) => encodeURI(value),
  'in a form': (value) => inForm(value),
  'in a form, in small letters': (value) => lowerHex(inForm(value)),
  'in JSON': (value) => JSON.stringify({ value }),
  'in JSON in JSON': (value) => JSON.stringify({ body: JSON.stringify({ value }) }),
  'in JSON of ASCII alone': (value) =>
    JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in a JSON pointer': (value) => value.replaceAll('~', '~0').replaceAll('/', '~1'),
};

/** In which even the longest is found. */
const USUAL = ['plain', 'base64', 'base64 before more', 'in a URL', 'in a form', 'in JSON', 'in JSON in JSON'];

/** What a spelling looks like where nothing is hidden, without what stands around it. */
const cores = (value: string): readonly string[] => [
  value,
  base64(value).replace(/..?=*$/, ''),
  encodeURIComponent(value),
];

const secretText = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{8,60}$/),
  fc.string({ minLength: 8, maxLength: 60, unit: 'grapheme-ascii' }),
  fc.string({ minLength: 8, maxLength: 60, unit: 'grapheme' }),
);
/** Too long for a pattern. */
const longText = fc.string({ minLength: 900, maxLength: 2000, unit: 'grapheme-ascii' });

describe('a known secret is removed from a text', () => {
  it.each(Object.entries(SPELLINGS))('in any encoding: %s', (spelling, spell) => {
    const value = USUAL.includes(spelling) ? fc.oneof({ arbitrary: secretText, weight: 9 }, longText) : secretText;
    fc.assert(
      fc.property(value, fc.string(), fc.string(), (value, before, after) => {
        fc.pre(!value.includes('\0') && value.trim() === value && !'[secret s]'.includes(value));
        const shown = redactOf({ s: value })(`${before}${spell(value)}${after}`);
        expect(shown).toContain('[secret s]');
        for (const core of cores(value)) expect(shown.replaceAll('[secret s]', '\n')).not.toContain(core);
      }),
      { numRuns: 60 },
    );
  });

  it('every time, and each under its own name', () => {
    const redact = redactOf({ one: 'first-secret', two: 'second/secret' });
    expect(redact('first-secret second/secret first-secret')).toBe('[secret one] [secret two] [secret one]');
  });

  it('among very many', () => {
    const env = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`s${index}`, `value-of-${index}-!`]));
    expect(redactOf(env)('a value-of-17-! b value-of-299-! c')).toBe('a [secret s17] b [secret s299] c');
  });

  it('of two with the same beginning the longer one', () => {
    const redact = redactOf({ short: 'abcdefgh', long: 'abcdefghijkl' });
    expect(redact('abcdefghijkl abcdefgh')).toBe('[secret long] [secret short]');
  });

  it('if it is a key of many lines', () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(30)}-----END PRIVATE KEY-----`;
    const redact = redactOf({ key });
    for (const text of [key, JSON.stringify({ key }), base64(`x${key}`), inForm(key)]) {
      expect(redact(text)).toContain('[secret key]');
      expect(redact(text)).not.toContain('MIIEvQIBADANB');
    }
  });

  it('also one line of it, if it has many, or without the spaces around it', () => {
    const key = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
    const redact = redactOf({
      key: `-----BEGIN KEY-----\r\n  ${key}\n{ "type": "account" }\nshort-line\n`,
      padded: '  hunter2-hunter2\n',
    });
    expect(redact(`the last that it said: ${key}`)).toBe('the last that it said: [secret key]');
    expect(redact('said hunter2-hunter2')).toBe('said [secret padded]');
    for (const other of ['-----BEGIN KEY-----', '{ "type": "account" }', 'short-line'])
      expect(redact(other)).toBe(other);
  });

  it('with any characters', () => {
    const value = String.raw`^$.*+?()[]{}|\/-"'$&<>`;
    expect(redactOf({ s: value })(`<${value}>`)).toBe('<[secret s]>');
  });

  it('even if its end was cut off', () => {
    const redact = redactOf({ s: 'hunter2-hunter2-hunter2' });
    expect(redact('said hunter2-hunter2-hu…')).toBe('said [secret s]…');
    expect(redact('got "hunter2-hunter2-hu…", which')).toBe('got "[secret s]…", which');
    expect(redact(`${base64('hunter2-hunter2-hunter2').slice(0, 20)}…`)).toBe('[secret s]…');
    expect(redact('hunting…')).toBe('hunting…');
  });
});

describe('everything else stays unchanged', () => {
  it('without a secret, or with one that is too short', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(redactOf({})(text)).toBe(text);
        expect(redactOf({ pin: '1234567' })(text)).toBe(text);
      }),
    );
    expect(redactOf({ pin: '1234567' })('pin 1234567')).toBe('pin 1234567');
  });

  it('with a secret that is not in it', () => {
    const redact = redactOf({ s: 'hunter2-hunter2' });
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => void expect(redact(text)).toBe(text)));
  });

  it('a hostile text is read without noticeable delay', () => {
    const redact = redactOf({ s: `${'\\'.repeat(40)}"${' '.repeat(40)}`, t: '%25%25%25%25 ~~~~////"""\\"' });
    for (const part of ['\\', '\\"', '%25', ' +', '~0~1', '…', 'aaaaaaaa…']) {
      const text = part.repeat(50_000);
      expect(redact(text).length).toBe(text.length);
    }
  });
});

describe('the known secrets may change', () => {
  it('a secret that was looked up is hidden from then on, and a few older values, too', async () => {
    const env: Record<string, string> = { TOKEN: 'first-value' };
    const secrets = createSecrets({ token: { env: 'TOKEN' } }, { env, folder: '.' });
    const redact = createRedact(secrets);
    expect(redact('first-value')).toBe('first-value');
    await secrets.get('token');
    expect(redact('first-value')).toBe('[secret token]');
    env.TOKEN = 'second-value';
    await secrets.get('token');
    expect(redact('first-value second-value')).toBe('[secret token] [secret token]');
  });

  it('those in the environment are known before their first use; an invalid declaration is skipped', () => {
    const declarations = {
      token: { env: 'TOKEN' },
      gone: { env: 'GONE' },
      odd: null as never,
      file: { file: './none' },
    };
    const secrets = createSecrets(declarations, { env: { TOKEN: 'first-value' }, folder: '.' });
    secrets.noteEnvironment();
    expect(secrets.known().map(String)).toEqual(['[secret token]']);
    const before = secrets.revision();
    secrets.noteEnvironment();
    expect(secrets.revision()).toBe(before);
  });
});

describe('a secret with characters inside that a terminal does not show', () => {
  const value = 'hunter2-super-secret-value';
  it.each([
    ['a colour', '\u001b[31m'],
    ['a title of the window', '\u001b]0;x\u0007'],
    ['a link', '\u001b]8;;http://x.test\u0007'],
    ['an 8-bit code', '\u009b31m'],
    ['a zero-width space', '\u200b'],
    ['a joiner', '\u200d'],
    ['a direction', '\u202e'],
    ['a NUL', '\u0000'],
  ])('is hidden: %s', (_, inside) => {
    const redact = redactOf({ tok: value });
    for (const at of [1, 8, 12, 25]) {
      const text = `before ${value.slice(0, at)}${inside}${value.slice(at)} after`;
      expect(redact(text)).toBe('before [secret tok] after');
    }
    expect(redact(Array.from(value).join(inside))).toBe('[secret tok]');
  });

  it('costs other texts nothing of what they hold', () => {
    const text = `\u001b[31mred\u001b[0m \u200d and ${value.slice(0, 7)}`;
    expect(redactOf({ tok: value })(text)).toBe(text);
  });
});
