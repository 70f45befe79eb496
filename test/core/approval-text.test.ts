import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentsLine, MAX_CALLER_TEXT_BYTES, whyNotByCaller } from '../../src/core/approval-text.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { quoted, toVisibleJson, visible, visibleJson } from '../../src/core/visible-text.ts';
import { approvalText } from '../../src/index.ts';

const request = (given: JsonObject) => ({
  tool: 'pay',
  description: 'Pays',
  arguments: given,
  caller: { id: 'alice' },
  profile: 'all',
  reason: 'it is destructive',
});

/** One of each kind of character that is not seen, or makes others be read wrongly. */
const UNSEEN: readonly (readonly [string, string])[] = [
  ['right-to-left override', '\u202e'],
  ['left-to-right isolate', '\u2066'],
  ['pop directional isolate', '\u2069'],
  ['right-to-left mark', '\u200f'],
  ['Arabic letter mark', '\u061c'],
  ['joining sign of Khmer', '\u17d2'],
  ['joining sign of Myanmar', '\u1039'],
  ['joining sign of Tifinagh', '\u2d7f'],
  ['joining sign of Kharosthi', '\u{10a3f}'],
  ['mirror sign of hieroglyphs', '\u{13440}'],
  ['zero-width space', '\u200b'],
  ['zero-width joiner', '\u200d'],
  ['word joiner', '\u2060'],
  ['byte order mark', '\ufeff'],
  ['soft hyphen', '\u00ad'],
  ['tag letter', '\u{e0041}'],
  ['variation selector', '\ufe0f'],
  ['variation selector of the second block', '\u{e0100}'],
  ['Hangul filler', '\u3164'],
  ['combining grapheme joiner', '\u034f'],
  ['Mongolian vowel separator', '\u180e'],
  ['braille blank', '\u2800'],
  ['no-break space', '\u00a0'],
  ['ideographic space', '\u3000'],
  ['line separator', '\u2028'],
  ['escape', '\u001b'],
  ['line feed', '\n'],
  ['carriage return', '\r'],
  ['delete', '\u007f'],
  ['next line', '\u0085'],
  ['NUL', '\u0000'],
  ['lone surrogate', '\ud800'],
  ['private use', '\ue000'],
  ['unassigned', '\u{e0fff}'],
  ['enclosing circle', '\u20dd'],
];

// Said in other words than the code does, so that a hole there is not a hole here.
const RAW =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Variation_Selector}\u00a0\u2000-\u200f\u3000\u3164\u2800]/u;

const withUnseen = fc
  .array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...UNSEEN.map(([, character]) => character))))
  .map((parts) => parts.join(''));
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    withUnseen,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
    tie('list'),
    tie('members'),
  ),
  list: fc.array(tie('value'), { maxLength: 30 }),
  members: fc.dictionary(withUnseen, tie('value'), { maxKeys: 30 }),
})).members as fc.Arbitrary<JsonObject>; // dictionaries of JSON

describe('the text of an approval request', () => {
  it('names every argument, whatever the arguments are, and contains nothing invisible', () => {
    fc.assert(
      fc.property(json, json, (given, inputResponses) => {
        const asked = { ...request(given), inputResponses };
        for (const text of [approvalText(asked), argumentsLine(asked)]) {
          for (const name of [...Object.keys(given), ...Object.keys(inputResponses)])
            expect(text).toContain(`${quoted(name)}: `);
          for (const line of text.split('\n')) expect(line).not.toMatch(RAW);
        }
        expect(argumentsLine(asked)).not.toContain('\n');
      }),
      { numRuns: 300 },
    );
  });

  it('has one line for each argument, which no value can forge', () => {
    const forged = '3\n  "to": "bob"\nProfile: "other"\u2028  "x": 1';
    fc.assert(
      fc.property(json, (given) => {
        const lines = approvalText(request({ ...given, note: forged })).split('\n');
        expect(lines.filter((line) => line.startsWith('  "'))).toHaveLength(Object.keys({ ...given, note: '' }).length);
        expect(lines.filter((line) => line.startsWith('Profile:'))).toEqual(['Profile: "all"']);
      }),
    );
  });

  it.each(UNSEEN)('escapes a %s in every text that it shows', (_what, character) => {
    const odd = `a${character}b`;
    const text = approvalText({
      tool: odd,
      title: odd,
      description: odd,
      arguments: { [odd]: odd, nested: { [odd]: [odd] } },
      inputResponses: { [odd]: { action: odd } },
      caller: { id: odd, roles: [odd] },
      profile: odd,
      reason: odd,
      conversation: odd,
      turn: odd,
      timeZone: odd,
      idempotencyKey: odd,
      inside: [odd],
    });
    for (const line of text.split('\n')) expect(line).not.toContain(character);
    expect(visible(odd)).toMatch(/^a\\u\{[0-9a-f]{4,6}\}b$/);
    expect(JSON.parse(visibleJson(JSON.stringify({ [odd]: odd }, null, 2)))).toEqual({ [odd]: odd });
    expect(visibleJson(JSON.stringify({ odd }))).not.toContain(character);
  });

  it('escapes marks of another script on a letter, also several and behind its own', () => {
    expect(visible('pay\u17d2\u17d2e')).toBe('pay\\u{17d2}\\u{17d2}e');
    expect(visible('é\u1039')).toBe('é\\u{1039}');
    expect(visible('e\u0301\u1039')).toBe('e\u0301\\u{1039}');
    for (const text of ['ខ្មែរ', 'မြန်မာ', 'ελληνικά', 'مُحَمَّد', 'தமிழ்']) expect(visible(text)).toBe(text);
  });

  it('escapes combining marks that pile up on a letter, and keeps those that languages need', () => {
    expect(visible(`a${'\u0301'.repeat(6)}`)).toBe(`a${'\u0301'.repeat(4)}\\u{0301}\\u{0301}`);
    for (const text of ['é', 'naïve', 'हिन्दी', 'שלום', 'ไทย', '日本語', '👍']) expect(visible(text)).toBe(text);
  });

  it('cuts each value by itself, shows its end too, and says how long it is', () => {
    const text = approvalText(request({ note: `${'harmless '.repeat(3000)}; rm -rf /`, path: '/etc/passwd' }));
    expect(text).toContain('  "path": "/etc/passwd"');
    expect(text).toMatch(/"note": "harmless .*" … ".*; rm -rf \/" \(27010 characters, 26510 not shown\)/);
    expect(text.length).toBeLessThan(1500);
  });

  it('shortens texts inside a value before it leaves out names, and says what it leaves out', () => {
    const wide = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`name${index}`, 'x'.repeat(5000)]));
    const shown = toVisibleJson(wide);
    for (const name of Object.keys(wide)) expect(shown).toContain(`"${name}": `);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name${index}`, index]));
    const kept = toVisibleJson(many).match(/"name\d+"/g)?.length ?? 0;
    expect(kept).toBeGreaterThan(50);
    expect(toVisibleJson(many)).toContain(`… ${5000 - kept} more not shown`);
    expect(toVisibleJson(Array.from({ length: 5000 }, () => 1))).toMatch(/… \d+ more not shown\]$/);
  });
});

describe('a caller that may approve its own call', () => {
  it('may do so up to 16 kB of text, and not one byte more', () => {
    const fill = (names: number) =>
      request(Object.fromEntries(Array.from({ length: names }, (_, index) => [`argument_${index}`, 'x'.repeat(400)])));
    expect(whyNotByCaller(fill(10))).toBeUndefined();
    const sized = (length: number) => request({ [`n${'a'.repeat(length)}`]: 1 });
    const rest = new TextEncoder().encode(approvalText(sized(0))).length;
    expect(whyNotByCaller(sized(MAX_CALLER_TEXT_BYTES - rest))).toBeUndefined();
    expect(whyNotByCaller(sized(MAX_CALLER_TEXT_BYTES - rest + 1))).toMatch(/16385 bytes.*the operator must answer/);
    expect(whyNotByCaller(fill(60))).toMatch(/the operator must answer/);
  });

  it('is measured in bytes', () => {
    expect(whyNotByCaller(request({ ['é'.repeat(9000)]: 1 }))).toBeDefined();
    expect(whyNotByCaller(request({ ['e'.repeat(9000)]: 1 }))).toBeUndefined();
  });
});
