/**
 * The first code in every machine. It defines the names that a script sees, and returns the functions that the thread
 * calls. It takes what it needs of JavaScript before the script can replace it. `send` is the only way out of the
 * machine; the thread checks everything that comes through it.
 */
export const GUEST_PRELUDE = `(function (send, seed, start, maxCalls, longestArguments) {
'use strict';
const { parse, stringify } = JSON;
const { create, defineProperty, freeze } = Object;
const NativeDate = Date;
const NativePromise = Promise;
const NativeTypeError = TypeError;
const NativeAggregateError = AggregateError;
const text = String;
const waiting = create(null);
const LONG = 10_000;
let requests = ''; // short ones that have not left the machine, as the inside of a JSON list
let next = 0;
let now = start;
let state = seed >>> 0;

class ToolError extends Error {
  constructor({ message, ...rest }) {
    super(message);
    for (const key of ['code', 'tool', 'issues', 'retryable', 'retryAfterMs'])
      if (rest[key] !== undefined) this[key] = rest[key];
  }
}
defineProperty(ToolError.prototype, 'name', { value: 'ToolError' });

// The JSON of a Map or a Set would be that of an empty object.
for (const { prototype } of [Map, Set]) defineProperty(prototype, 'toJSON', { value() { return [...this]; }, writable: true, configurable: true });

const toJson = (value, what) => {
  const made = stringify(value);
  if (made === undefined) throw new NativeTypeError(what + ' is of type ' + typeof value + ', which has no JSON form');
  return made;
};

const ask = (kind, name, input) => new NativePromise((resolve, reject) => {
  if (typeof name !== 'string')
    throw new ToolError({ code: 'invalid_input', tool: kind, retryable: false, message: 'search: the words must be a text.' });
  const sent = input === undefined ? '{}' : toJson(input, 'The value for the arguments of "' + name + '"');
  if (next >= maxCalls)
    throw new ToolError({ code: 'denied', tool: name, retryable: false,
      message: 'The script has made ' + maxCalls + ' calls, which is its limit (executors.script.maxCalls).' });
  if (name.length > longestArguments)
    throw new ToolError({ code: 'invalid_input', retryable: false,
      message: 'The name of a call or the words of a search have more than ' + longestArguments + ' characters.' });
  if (sent.length > longestArguments)
    throw new ToolError({ code: 'invalid_input', tool: name, retryable: false,
      message: 'The arguments of "' + name + '" have more than ' + longestArguments + ' characters.' });
  waiting[next] = { resolve, reject };
  request(kind, name, sent);
  next++;
});

// Short requests leave the machine together, when the script waits or ends, because each way out takes its time. They
// are joined as text: a script may give lists and objects a toJSON.
const request = (kind, name, sent) => {
  if (name.length + sent.length > LONG) {
    send('requests', 0, handOver(), '');
    send(kind, next, stringify(name), sent);
    return;
  }
  requests += (requests === '' ? '["' : ',["') + kind + '",' + next + ',' + stringify(name) + ',' + stringify(sent) + ']';
  if (requests.length > LONG) send('requests', 0, handOver(), '');
};
const handOver = () => {
  const all = requests;
  requests = '';
  return all;
};

const refuse = () => false;
const tools = new Proxy(freeze(create(null)), {
  get: (_, name) => (typeof name !== 'string' || name === 'then' ? undefined : (input) => ask('call', name, input)),
  set: refuse, defineProperty: refuse, deleteProperty: refuse, setPrototypeOf: refuse,
});
const search = (words, options) => ask('search', words, options);

const show = (value) => {
  if (typeof value === 'string') return value;
  try {
    if (value instanceof Error) return text(value.stack ? value.name + ': ' + value.message : value);
    return stringify(value) ?? text(value);
  } catch {
    try {
      return text(value);
    } catch {
      return '[' + typeof value + ']';
    }
  }
};
const log = (...values) => {
  let line = '';
  for (let i = 0; i < values.length; i++) line += (i === 0 ? '' : ' ') + show(values[i]);
  send('log', 0, line, '');
};
const console = freeze({ log, info: log, warn: log, error: log, debug: log });

// Time stands still between answers and randomness has a seed, so that a script can be replayed.
NativeDate.now = () => now;
const { construct } = Reflect;
globalThis.Date = new Proxy(NativeDate, {
  construct: (target, parts, newTarget) => construct(target, parts.length === 0 ? [now] : parts, newTarget),
  apply: () => text(new NativeDate(now)),
});
defineProperty(NativeDate.prototype, 'constructor', { value: globalThis.Date });
Math.random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

const expose = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });
expose('tools', tools);
expose('search', search);
expose('console', console);
expose('ToolError', ToolError);

const lineOf = (stack) => {
  const found = /script:(\\d+)/.exec(text(stack));
  return found === null ? undefined : Number(found[1]);
};
// QuickJS throws null if its memory has no room for an error. These texts need no more of it.
const THREW_NULL = '{"text":"It threw null, as a script does whose memory is used up (executors.script.memoryMb)"}';
const UNREADABLE = '{"text":"It threw an error that cannot be read, as a script does whose memory is used up (executors.script.memoryMb)"}';
const messageOf = (error) => {
  let words = text(error.message);
  if (!(error instanceof NativeAggregateError)) return words;
  for (let i = 0; i < error.errors.length; i++) words += (words === '' ? '' : '; ') + show(error.errors[i]);
  return words;
};
const describe = (error) => {
  if (!(error instanceof Error)) return { __proto__: null, text: 'It threw ' + show(error) };
  const isInner = error instanceof ToolError;
  const about = isInner ? (error.tool ?? 'call') + ': ' + error.code : text(error.name);
  return {
    __proto__: null, // a script may give objects a toJSON
    text: about + ': ' + messageOf(error),
    code: isInner ? text(error.code) : undefined,
    line: lineOf(error.stack),
  };
};

const take = (index, time) => {
  now = time;
  const taken = waiting[index];
  delete waiting[index];
  return taken;
};

return {
  handOver,
  resolve(index, value, time) {
    const { resolve } = take(index, time);
    resolve(value === undefined ? undefined : parse(value));
  },
  reject(index, value, time) {
    const { reject } = take(index, time);
    reject(new ToolError(parse(value)));
  },
  async run(main, input) {
    try {
      expose('input', parse(input));
      const value = await main();
      send('end', 1, value === undefined ? '' : toJson(value, 'The result'), handOver());
    } catch (error) {
      let told;
      try {
        told = error === null ? THREW_NULL : stringify(describe(error));
      } catch {
        told = UNREADABLE;
      }
      send('end', 0, told, handOver());
    }
  },
};
})`;
