import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import {
  approval,
  type Crib,
  createCrib,
  defineExtension,
  done,
  type ExtensionInput,
  type ToolCall,
  type ToolError,
  type ToolInput,
  type ToolResult,
} from '../../src/index.ts';
import { wrong } from '../bad-input/wrong.ts';

const run = vi.fn((input: unknown) => {
  if (JSON.stringify(input).includes('fail')) throw new Error('it failed');
  return 'ran';
});
const tool: ToolInput = { name: 'tool', description: '', input: {}, run };

/** Every way in which code hands an extension to a crib. */
const WAYS: Readonly<Record<string, (extension: unknown) => Promise<Crib>>> = {
  'createCrib({ extensions })': (extension) => createCrib({ tools: [tool], extensions: [wrong(extension)] }),
  'crib.extensions.add': async (extension) => {
    const crib = await createCrib({ tools: [tool] });
    crib.extensions.add(wrong(extension));
    return crib;
  },
  defineExtension: async (extension) => createCrib({ tools: [tool], extensions: [defineExtension(wrong(extension))] }),
};

async function callTool(crib: Crib, input: object = {}): Promise<ToolResult> {
  run.mockClear();
  return (await crib.open()).call('tool', input);
}

/** A guard with state that cannot be read from elsewhere. */
class Guard {
  readonly name: string = 'guard';
  readonly #words = { no: 'not on Sundays' };
  #asked = 0;
  get asked(): number {
    return this.#asked;
  }
  veto(call: ToolCall): string | undefined {
    this.#asked++;
    return JSON.stringify(call.input).includes('bad') ? this.#words.no : undefined;
  }
}

/** As seed 003 writes them. */
class AuthExtension {
  readonly name = 'auth';
  readonly #seen: string[] = [];
  async before_execute(call: ToolCall) {
    this.#seen.push('before');
    if (JSON.stringify(call.input).includes('bad')) throw new Error('not allowed');
  }
  async after_execute(_: ToolCall, result: ToolResult) {
    this.#seen.push('after');
    return result;
  }
  async on_error(_: ToolCall, error: ToolError) {
    this.#seen.push(error.code);
    return done(this.#seen.join(' '));
  }
}

describe.each(Object.keys(WAYS))('an extension given by %s', (way) => {
  const give = (extension: unknown): Promise<Crib> => WAYS[way]?.(extension) ?? Promise.reject(new Error(way));

  it('with veto as a plain object is asked before the tool runs', async () => {
    const crib = await give({ name: 'guard', veto: () => 'not on Sundays' });
    expect(await callTool(crib)).toMatchObject({ error: { code: 'denied', message: 'not on Sundays' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('with before, after and onError as a plain object is asked', async () => {
    const asked: string[] = [];
    const crib = await give({
      name: 'hooks',
      priority: 600,
      before: () => void asked.push('before'),
      after: () => void asked.push('after'),
      onError: () => void asked.push('onError'),
    });
    await callTool(crib);
    await callTool(crib, { please: 'fail' });
    expect(asked).toEqual(['before', 'after', 'before', 'onError']);
  });

  it('as an instance of a class keeps its own state', async () => {
    const guard = new Guard();
    const crib = await give(guard);
    expect(await callTool(crib, { be: 'bad' })).toMatchObject({ error: { message: 'not on Sundays' } });
    expect(run).not.toHaveBeenCalled();
    expect(await callTool(crib)).toMatchObject({ ok: true });
    expect(guard.asked).toBe(2);
  });

  it('as an instance of a class that inherits its hooks keeps its own state', async () => {
    class Named extends Guard {
      override readonly name = 'named';
    }
    const crib = await give(new Named());
    expect(await callTool(crib, { be: 'bad' })).toMatchObject({ error: { code: 'denied' } });
  });

  it('with the names of seed 003 is asked', async () => {
    const crib = await give(new AuthExtension());
    expect(await callTool(crib, { be: 'bad' })).toMatchObject({ error: { code: 'internal' } });
    expect(run).not.toHaveBeenCalled();
    expect(await callTool(crib)).toMatchObject({ content: [{ text: 'ran' }] });
    expect(await callTool(crib, { please: 'fail' })).toMatchObject({
      content: [{ text: 'before before after before tool_error' }],
      recovered: true,
    });
  });

  it('that is an observer or a gate of its own as an instance keeps its own state', async () => {
    class Both {
      readonly name = 'both';
      readonly priority = 500;
      readonly #seen: string[] = [];
      applies() {
        return this.#seen.length === 0;
      }
      wrap(_: ToolCall, next: () => ToolResult) {
        this.#seen.push('wrap');
        return next();
      }
      onEnd() {
        this.#seen.push('end');
      }
      get seen() {
        return this.#seen.join(' ');
      }
    }
    const both = new Both();
    await callTool(await give(both));
    expect(both.seen).toBe('wrap end');
  });

  it.each<[string, object, string]>([
    ['a misspelt hook', { vetto: () => 'no' }, 'has an unknown member "vetto". Did you mean "veto"?'],
    ['a misspelt hook beside a known one', { veto() {}, befor() {} }, '"befor". Did you mean "before"?'],
    ['a hook in other letters', { onerror() {} }, 'Did you mean "onError"?'],
    ['a hook in snake case', { on_end() {} }, 'Did you mean "onEnd"?'],
    ['something else', { veto() {}, colour: 'red' }, 'has an unknown member "colour".'],
    ['a misspelt priority', { veto() {}, prioritty: 600 }, 'Did you mean "priority"?'],
    ['no hook', { applies: () => true, close: async () => {} }, 'has no hook and would never take part in a call'],
    ['a hook that is not a function', { veto: 'no' }, '"veto" of extension "guard" must be a function, got "no"'],
    ['a gate and a hook', { wrap() {}, veto() {} }, 'has both wrap and veto'],
    ['a hook under two names', { before() {}, before_execute() {} }, 'has both before and before_execute'],
  ])('with %s is refused', async (_, members, message) => {
    await expect(give({ name: 'guard', priority: 500, ...members })).rejects.toMatchObject({
      name: 'ToolcribError',
      message: expect.stringContaining(message),
    });
  });

  it.each<[string, object, string]>([
    ['vetto', { vetto() {} }, 'veto'],
    ['befor', { befor() {} }, 'before'],
    ['beforeExecute', { beforeExecute() {} }, 'before_execute'],
    ['before_call', { before_call() {} }, 'before'],
    ['afterCall', { afterCall() {} }, 'after'],
    ['on_err', { on_err() {} }, 'on_error'],
    ['onFailure', { onFailure() {} }, 'onError'],
    ['onstart', { onstart() {} }, 'onStart'],
    ['warp', { warp() {} }, 'wrap'],
    ['aplies', { aplies() {} }, 'applies'],
    ['v_e_t_o', { v_e_t_o() {} }, 'veto'],
    ['shouldVeto', { shouldVeto() {} }, 'veto'],
    ['preExecute', { preExecute() {} }, 'before'],
    ['pre_execute', { pre_execute() {} }, 'before'],
    ['postCall', { postCall() {} }, 'after'],
    ['execute_before', { execute_before() {} }, 'before'],
  ])('as an instance of a class with a method %s is refused with the nearest hook', async (_, methods, hook) => {
    class Careless {
      readonly name = 'careless';
      readonly priority = 500;
      onStart() {}
    }
    Object.defineProperties(Careless.prototype, Object.getOwnPropertyDescriptors(methods));
    await expect(give(new Careless())).rejects.toThrow(`Did you mean "${hook}"?`);
    const asField = Object.assign(new Guard(), methods);
    await expect(give(asField)).rejects.toThrow(`Did you mean "${hook}"?`);
  });

  it('as an instance of a class may have state and methods of its own', async () => {
    class Rich extends EventEmitter {
      readonly name = 'rich';
      options = { colour: 'red' };
      count = 0;
      log() {}
      lookUp() {}
      clone() {}
      prepare() {}
      retryAfter() {}
      _before() {}
      veto() {
        return `${++this.count}`;
      }
    }
    const crib = await give(new Rich());
    await callTool(crib);
    expect(await callTool(crib)).toMatchObject({ error: { message: '2' } });
  });

  it('as an instance of a class whose field hides the hook of its class is refused', async () => {
    class Hiding extends Guard {
      override readonly name = 'hiding';
    }
    const hiding = Object.defineProperty(new Hiding(), 'veto', { value: undefined, enumerable: true });
    await expect(give(hiding)).rejects.toThrow(
      'has a field "veto" without a value, which hides the method of its class',
    );
  });

  it('as an object with a misspelt hook in a prototype of its own is refused', async () => {
    const parent = Object.assign(Object.create(null), { vetto: () => 'no' });
    const child = Object.assign(Object.create(parent), { name: 'child', priority: 500, onEnd() {} });
    await expect(give(child)).rejects.toThrow('Did you mean "veto"?');
  });

  it.each<[string, () => unknown]>([
    ['false', () => false],
    ['true', () => true],
    ['a text', () => 'no'],
    ['a number', () => 0],
    ['a list', () => []],
    ['a result', () => ({ ok: false, status: 'failed', error: { code: 'denied', message: 'no' } })],
    ['a failure without a status', () => ({ ok: false, error: 'no' })],
    ['an error', () => new Error('no')],
    ['a generator', function* () {}],
    ['a promise of false', async () => false],
  ])('whose before returns %s stops the call: it would be ignored', async (_, before) => {
    for (const hooks of [{ before }, { before_execute: before }]) {
      const crib = await give({ name: 'guard', ...hooks });
      expect(await callTool(crib)).toMatchObject({ error: { code: 'internal' } });
      expect(run).not.toHaveBeenCalled();
    }
  });

  it('whose veto returns something else than a reason, false or nothing stops the call', async () => {
    for (const answer of [0, Number.NaN, '', true, {}, 0n])
      expect(await callTool(await give({ name: 'guard', veto: () => answer }))).toMatchObject({
        error: { code: 'denied' },
      });
    for (const answer of [false, undefined, null])
      expect(await callTool(await give({ name: 'guard', veto: () => answer }))).toMatchObject({ ok: true });
  });

  it('without a hook as an instance of a class is refused', async () => {
    class Empty {
      readonly name = 'empty';
      readonly priority = 500;
      check() {}
    }
    await expect(give(new Empty())).rejects.toThrow('Extension "empty" has no hook');
  });

  it('that is a class, a function, or cannot be read is refused', async () => {
    await expect(give(Guard)).rejects.toThrow('An extension must be an object, got a function; write new Guard().');
    await expect(give(() => 'no')).rejects.toThrow('An extension must be an object');
    const angry = new Proxy({ name: 'angry', veto() {} }, { ownKeys: wrong(() => Reflect.getPrototypeOf(wrong(1))) });
    await expect(give(angry)).rejects.toMatchObject({ name: 'ToolcribError' });
  });
});

describe('a gate that is given with hooks', () => {
  it('has its place among others judged like any gate', async () => {
    const far = { name: 'guard', priority: 900, veto: () => 'no' };
    await expect(createCrib({ extensions: [far] })).rejects.toThrow('unsafeOrder: true');
    await expect(createCrib({ extensions: [{ ...far, unsafeOrder: true }] })).resolves.toBeDefined();
  });

  it('can be written down with its types', async () => {
    const guard: ExtensionInput = { name: 'guard', veto: (call) => `${call.spec.name}: no` };
    const crib = await createCrib({ tools: [tool], extensions: [guard] });
    expect(await callTool(crib)).toMatchObject({ error: { message: 'tool: no' } });
  });
});

describe('a copy of a built-in', () => {
  it('with another gate or hook is refused: it would never be called', async () => {
    for (const change of [{ wrap: () => done('mine') }, { veto: () => 'no' }, { applies: () => false }]) {
      const copy = { ...approval(), ...change };
      await expect(createCrib({ extensions: [wrong(copy)] })).rejects.toThrow(
        `Extension "approval" is built in, and a copy cannot replace its "${Object.keys(change)[0]}"`,
      );
    }
  });
});
