import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../src/core/read-options.ts';
import { isToolName, requireToolName, toToolName } from '../../src/core/tool-spec.ts';

const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex');
const safeName = (name: string) => toToolName(name, sha256Hex);

const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.string({ unit: fc.constantFrom('a', '9', '-', '_', '.', '/', ' '), maxLength: 80 }),
);
const validName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,47}$/);

describe('toToolName', () => {
  it('Any name that a server uses for a tool becomes a valid one.', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        expect(safeName(name)).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,47}$/);
      }),
    );
  });

  it('A valid name stays as it is.', () => {
    fc.assert(
      fc.property(validName, (name) => {
        expect(safeName(name)).toBe(name);
      }),
    );
  });

  it('Long names that differ anywhere stay different.', () => {
    const tail = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(tail, tail, (one, other) => {
        fc.pre(one !== other);
        const head = 'a_server_with_a_very_long_name_and_many_tools_';
        expect(safeName(`${head}${one}_tool`)).not.toBe(safeName(`${head}${other}_tool`));
      }),
    );
  });

  it('Too long is the first 39 characters, "_" and 8 hex digits of the SHA-256 of the full name.', () => {
    const name = `9 lives ${'x'.repeat(60)}`;
    expect(safeName(name)).toBe(`_9_lives_${'x'.repeat(30)}_${sha256Hex(name).slice(0, 8)}`);
  });

  it('48 characters are not too long, 49 are.', () => {
    expect(safeName('x'.repeat(48))).toBe('x'.repeat(48));
    expect(safeName('x'.repeat(49))).toMatch(/^x{39}_[0-9a-f]{8}$/);
  });

  it.each([
    ['repos/list', 'repos_list'],
    ['9lives', '_9lives'],
    ['-x', '_-x'],
    ['', '_'],
    ['größe', 'gr__e'],
    ['__proto__', 'proto'],
  ])('%j becomes %j.', (name, safe) => {
    expect(safeName(name)).toBe(safe);
  });
});

describe('tool names', () => {
  it.each(['9lives', '-x', '', 'a b', 'a.b', 'x'.repeat(49), 'é', 'a\n', '__proto__', undefined, null, 7])(
    '%j is refused as a name.',
    (name) => {
      expect(isToolName(name)).toBe(false);
      expect(() => requireToolName(name)).toThrow('is not a tool name');
    },
  );
});

describe('nearest', () => {
  const word = fc.stringMatching(/^[a-z]{4,12}$/);

  it('A name with one typo is recognised.', () => {
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom('drop', 'add', 'change', 'swap'), (name, place, mistake) => {
        const at = place % (name.length - 1);
        const [head, letter, next, tail] = [name.slice(0, at), name[at], name[at + 1], name.slice(at + 2)];
        const wrong = {
          drop: `${head}${next}${tail}`,
          add: `${head}${letter}0${next}${tail}`,
          change: `${head}0${next}${tail}`,
          swap: `${head}${next}${letter}${tail}`,
        }[mistake];
        expect(nearest(wrong, ['0000000000000000', name])).toBe(name);
      }),
    );
  });

  it('A suggestion is always one of the known names.', () => {
    fc.assert(
      fc.property(word, fc.array(word), (name, known) => {
        const guess = nearest(name, known);
        if (guess !== undefined) expect(known).toContain(guess);
      }),
    );
  });

  it('A name that resembles no known one gets no suggestion.', () => {
    const other = fc.stringMatching(/^[0-9]{4,12}$/);
    fc.assert(
      fc.property(word, fc.array(other), (name, known) => {
        expect(nearest(name, known)).toBeUndefined();
      }),
    );
  });

  it('The closest of several is suggested, whatever their order.', () => {
    expect(nearest('timeoutMS', ['maxTimeoutMs', 'timeoutMs', 'timeouts'])).toBe('timeoutMs');
    expect(nearest('timeoutMS', ['timeouts', 'timeoutMs', 'maxTimeoutMs'])).toBe('timeoutMs');
  });

  it('A suggestion is a sentence; without one the text is empty.', () => {
    expect(didYouMean('inclde', ['include'])).toBe(' Did you mean "include"?');
    expect(didYouMean('xyz', ['include'])).toBe('');
  });
});
