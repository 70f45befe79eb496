// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { format, inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { canonicalJson, copyJson } from '../../../src/core/json.ts';
import { ToolcribError } from '../../../src/core/tool-error.ts';
import { reveal, Secret } from '../../../src/system/secrets/secret.ts';
import {
  isHostBinding,
  isSecretTemplate,
  joinSecretText,
  secretsIn,
  toSecretText,
} from '../../../src/system/secrets/secret-template.ts';

const VALUE = 'hunter2-hunter2';
const secret = new Secret('github', VALUE, ['example.com']);

describe('a secret cannot leak by accident', () => {
  it.each<readonly [what: string, show: () => unknown]>([
    ['turned into text', () => String(secret)],
    ['in a template', () => `a ${secret}`],
    ['added to a text', () => `a ${secret as unknown as string}`], // what careless code does
    ['joined', () => [secret, secret].join()],
    ['serialised', () => JSON.stringify({ secret })],
    ['as an error', () => new Error(`${secret}`).message],
    ['inspected', () => inspect(secret)],
    ['inspected inside out', () => inspect({ deep: [secret] }, { depth: 9, showHidden: true })],
    [
      'inspected without its own words',
      () => inspect(secret, { customInspect: false, showHidden: true, getters: true }),
    ],
    ['formatted', () => format('%s %o %O %j %d', secret, secret, secret, secret, secret)],
    ['copied as data', () => JSON.stringify(copyJson({ secret }))],
    ['made canonical', () => canonicalJson(secret)],
    ['spread', () => JSON.stringify({ ...secret })],
    [
      'listed',
      () => JSON.stringify([Object.entries(secret), Object.getOwnPropertyNames(secret), Reflect.ownKeys(secret)]),
    ],
    ['cloned', () => inspect(structuredClone(secret), { showHidden: true })],
    ['sent to another thread', () => inspect(deserialize(serialize({ secret })), { showHidden: true, depth: 9 })],
    ['thrown about', () => JSON.stringify(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(secret)))],
  ])('%s', (_, show) => {
    expect(String(show())).not.toContain(VALUE);
  });

  it('and names its owner', () => {
    expect([String(secret), `${secret}`, JSON.stringify(secret), inspect(secret), secret.name]).toEqual([
      '[secret github]',
      '[secret github]',
      '"[secret github]"',
      '[secret github]',
      'github',
    ]);
  });

  it('and a copy of it has no value', () => {
    for (const fake of [structuredClone(secret), Object.create(secret), { ...secret }] as Secret[]) {
      expect(() => reveal(fake, { child: true })).toThrow(TypeError);
    }
  });

  it('and cannot be changed', () => {
    expect(() => Object.assign(secret, { toJSON: () => 'x' })).toThrow(TypeError);
  });
});

describe('a secret is sent only to its hosts, or into a child', () => {
  const opens = (bound: readonly string[], host: string) => {
    try {
      return reveal(new Secret('s', VALUE, bound), { host }) === VALUE;
    } catch (error) {
      if (error instanceof ToolcribError && error.code === 'secret_refused') return false;
      throw error;
    }
  };

  it.each([
    ['example.com', 'example.com'],
    ['example.com', 'EXAMPLE.com'],
    ['example.com', 'example.com.'],
    ['example.com', 'example.com:8443'],
    ['example.com:8443', 'example.com:8443'],
    ['example.com:443', 'example.com'],
    ['*.example.com', 'a.example.com'],
    ['*.example.com', 'a.b.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['[::1]', '[::1]:80'],
    ['127.0.0.1', '127.0.0.1'],
  ])('bound to %s it goes to %s', (bound, host) => {
    expect(opens([bound], host)).toBe(true);
  });

  it.each([
    ['example.com', 'evil.com'],
    ['example.com', 'example.com.evil.com'],
    ['example.com', 'notexample.com'],
    ['example.com', 'a.example.com'],
    ['example.com', 'example.com@evil.com'],
    ['example.com', 'evil.com/example.com'],
    ['example.com', 'evil.com#example.com'],
    ['example.com', 'https://example.com'],
    ['example.com', 'example.com\\evil.com'],
    ['example.com', ' example.com'],
    ['example.com', ''],
    ['example.com:8443', 'example.com:8444'],
    ['example.com:8443', 'example.com'],
    ['*.example.com', 'example.com'],
    ['*.example.com', 'evilexample.com'],
    ['*', 'example.com'],
    ['', ''],
  ])('bound to %s it does not go to %j', (bound, host) => {
    expect(opens([bound], host)).toBe(false);
  });

  it('goes to any of several hosts, and into every child', () => {
    expect(opens(['a.com', 'b.com'], 'b.com')).toBe(true);
    expect(reveal(secret, { child: true })).toBe(VALUE);
  });

  it('goes to no host if it has none, and says what to do', () => {
    expect(() => reveal(new Secret('s', VALUE), { host: 'a.com' })).toThrow(
      'The secret "s" may not be sent to "a.com": it is not bound to a host; list the allowed hosts under hosts.',
    );
    expect(() => reveal(secret, { host: 'a.com' })).toThrow(
      'The secret "github" may not be sent to "a.com": it is bound to example.com.',
    );
  });

  it.each([{}, { child: false }, { child: 1 }])('goes nowhere without a use: %o', (use) => {
    expect(() => reveal(secret, use as never)).toThrow(ToolcribError); // what untyped code may pass
  });

  it.each(['https://a.com', 'a.com/x', 'a b', 'u@a.com', '*', '*.', '', 'a.*.com'])(
    '%j is not a host to bind to',
    (text) => {
      expect(isHostBinding(text)).toBe(false);
    },
  );
});

describe('a text with secrets is data that names them', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['a ${secret:x} b', { secretTemplate: ['a ', { secret: 'x' }, ' b'] }],
    ['${secret:x}${secret:y}', { secretTemplate: [{ secret: 'x' }, { secret: 'y' }] }],
    ['${secret: x }', { secretTemplate: [{ secret: 'x' }] }],
    ['$${secret:x}', '${secret:x}'],
    ['a $${b} ${secret:x}', { secretTemplate: ['a ${b} ', { secret: 'x' }] }],
    ['${VAR}', '${VAR}'],
    ['${VAR} ${secret:x}', { secretTemplate: ['${VAR} ', { secret: 'x' }] }],
    ['never closed ${secret:x', 'never closed ${secret:x'],
  ])('%j', (text, expected) => {
    expect(toSecretText(text)).toEqual(expected);
  });

  it('that is distinguished from other data, also when it was copied', () => {
    const text = toSecretText('${secret:x}');
    expect([text, structuredClone(text)].map(isSecretTemplate)).toEqual([true, true]);
    const others = [
      'x',
      null,
      {},
      { secretTemplate: 'x' },
      { secretTemplate: [1] },
      { secretTemplate: [{ secret: 1 }] },
    ];
    expect(others.map(isSecretTemplate)).toEqual(others.map(() => false));
  });

  it('that lists the secrets it needs', () => {
    expect(secretsIn(toSecretText('a ${secret:x} ${secret:y}'))).toEqual(['x', 'y']);
    expect(secretsIn('plain')).toEqual([]);
  });

  it('that is joined from parts, and is a plain text if none is a secret', () => {
    expect(joinSecretText(['a', '', 'b'])).toBe('ab');
    expect(joinSecretText(['a', 'b', { secret: 'x' }, ''])).toEqual({ secretTemplate: ['ab', { secret: 'x' }] });
  });
});
