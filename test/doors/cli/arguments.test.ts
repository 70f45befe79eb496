import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../src/doors/cli/call-arguments.ts';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    loud: { type: 'boolean' },
    names: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'number' } },
    options: { type: 'object' },
    mode: { enum: ['auto', 1, true] },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    oneOrMany: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    referred: { $ref: '#/$defs/amount' },
    endless: { $ref: '#/$defs/endless' },
    anything: {},
  },
  $defs: { amount: { type: 'number' }, endless: { $ref: '#/$defs/endless' } },
};

describe('key=value words become arguments by the types of the schema', () => {
  it.each([
    ['text=5', { text: '5' }],
    ['text=', { text: '' }],
    ['text=a=b', { text: 'a=b' }],
    ['count=-5', { count: -5 }],
    ['ratio=1e3', { ratio: 1000 }],
    ['ratio=null', { ratio: null }],
    ['loud=true', { loud: true }],
    ['names=a', { names: ['a'] }],
    ['names=["a","b"]', { names: ['a', 'b'] }],
    ['sizes=1', { sizes: [1] }],
    ['options={"deep":[1]}', { options: { deep: [1] } }],
    ['mode=auto', { mode: 'auto' }],
    ['mode=1', { mode: 1 }],
    ['mode=true', { mode: true }],
    ['either=5', { either: '5' }],
    ['oneOrMany=a', { oneOrMany: 'a' }],
    ['referred=2.5', { referred: 2.5 }],
    ['endless=2.5', { endless: 2.5 }],
    ['anything={"a":1}', { anything: { a: 1 } }],
    ['anything=007', { anything: '007' }],
    ['unknown=true', { unknown: true }],
  ])('%s', (word, expected) => {
    expect(parseArguments([word], schema)).toEqual(expected);
  });

  it('an integer that a number would round keeps its digits, and the call refuses it', () => {
    const exact = 12345678901234567890n;
    const words = ['count', 'anything', 'unknown', 'sizes'].map((key) => `${key}=${exact}`);
    expect(parseArguments([...words, `options={"n":${exact}}`], schema)).toEqual({
      count: exact,
      anything: exact,
      unknown: exact,
      sizes: [exact],
      options: { n: exact },
    });
  });

  it('repeated keys make a list', () => {
    expect(parseArguments(['names=a', 'names=b', 'sizes=1', 'sizes=2', 'anything=1', 'anything=x'], schema)).toEqual({
      names: ['a', 'b'],
      sizes: [1, 2],
      anything: [1, 'x'],
    });
  });

  it.each(['count=many', 'loud=yes'])('a value that does not fit stays text for validation: %s', (word) => {
    const [key, value] = word.split('=');
    expect(parseArguments([word], schema)).toEqual({ [key ?? '']: value });
  });

  it.each([
    [['text'], '"text" is not an argument; write key=value.'],
    [['=5'], '"=5" is not an argument; write key=value.'],
    [['options={'], 'options must be JSON'],
    [['text=a', 'text=b'], 'text is given 2 times, but it is not a list.'],
  ])('%j is an error', (words, sentence) => {
    expect(() => parseArguments(words, schema)).toThrow(sentence);
  });

  it('a key named __proto__ is an argument like any other', () => {
    const parsed = parseArguments(['__proto__=1'], schema);
    expect(Object.keys(parsed)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  it('an unknown tool has no schema, and the types of its arguments are guessed', () => {
    expect(parseArguments(['a=1', 'b=x'], undefined)).toEqual({ a: 1, b: 'x' });
  });
});
