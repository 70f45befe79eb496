import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  type Chest,
  type Crib,
  createCrib,
  defineBundle,
  type ToolCall,
  textOf,
} from '../../src/index.ts';

let crib: Crib | undefined;
afterEach(() => crib?.close());

async function openWith(...tools: readonly AnyTool[]): Promise<Chest> {
  crib = await createCrib({ tools });
  return crib.open();
}

/** As the author of a tool writes it who thinks in classes. */
class Counter {
  readonly name: string = 'count';
  readonly description = 'Counts calls';
  readonly parameters = { type: 'object', properties: { by: { type: 'integer', default: 1 } } } as const;
  readonly tags = ['math'];
  #count = 0;

  async execute({ by }: { by: number }): Promise<string> {
    this.#count += by;
    return `${this.name} ${this.#count}`;
  }
}

class Named extends Counter {
  override readonly name = 'named';
}

describe('tools as classes', () => {
  it('an instance is a tool, with its private fields and its this', async () => {
    const chest = await openWith(new Counter());
    expect(textOf(await chest.call('count', {}))).toBe('count 1');
    expect(textOf(await chest.call('count', { by: 4 }))).toBe('count 5');
    expect(await chest.call('count', { by: 'x' })).toMatchObject({ error: { code: 'invalid_input' } });
    expect(crib?.match({ tags: ['math'] }).map(({ name }) => name)).toEqual(['count']);
  });

  it('a class is a tool through an instance that the crib creates, and so is a subclass', async () => {
    const chest = await openWith(Counter, Named);
    expect(textOf(await chest.call('named', { by: 2 }))).toBe('named 2');
    expect(textOf(await chest.call('count', {}))).toBe('count 1');
  });

  it('register accepts a class, an instance and a list of them', async () => {
    const chest = await openWith();
    expect(crib?.register(Counter)).toMatchObject({ ok: true, applied: ['count'] });
    expect(crib?.register([new Named()])).toMatchObject({ ok: true, applied: ['named'] });
    expect(textOf(await chest.call('count', {}))).toBe('count 1');
  });

  it('a bundle accepts them, too', async () => {
    crib = await createCrib({ bundles: [defineBundle({ name: 'b', tools: [Counter, new Named()] })] });
    expect(crib.catalog.specs.map(({ name }) => name)).toEqual(['count', 'named']);
  });

  it.each(['input', 'inputSchema', 'input_schema', 'parameters', 'parametersSchema', 'parameters_schema', 'schema'])(
    'its schema may be called %s, and be a getter or a zod schema',
    async (key) => {
      class Tool {
        get name() {
          return 'tool';
        }
        get description() {
          return 'A tool';
        }
        run(input: { city: string }, call: ToolCall) {
          return `${input.city} ${call.spec.name}`;
        }
      }
      Object.defineProperty(Tool.prototype, key, { get: () => z.object({ city: z.string() }) });
      const chest = await openWith(new Tool());
      expect(textOf(await chest.call('tool', { city: 'Rome' }))).toBe('Rome tool');
      expect(await chest.call('tool', {})).toMatchObject({ error: { code: 'invalid_input' } });
    },
  );

  it('a class with a static create is created by it', async () => {
    class Made {
      static create(): Made {
        return new Made('Hello');
      }
      readonly name = 'made';
      readonly description = 'Made by a factory';
      readonly #greeting: string;
      constructor(greeting: string) {
        this.#greeting = greeting.toUpperCase();
      }
      run() {
        return this.#greeting;
      }
    }
    expect(textOf(await (await openWith(Made)).call('made', {}))).toBe('HELLO');
  });

  it('static members of the class count if an instance has none', async () => {
    class Fixed {
      static readonly description = 'On the class';
      static readonly input_schema = { type: 'object', required: ['a'] };
      readonly name = 'fixed';
      execute() {
        return 'ran';
      }
    }
    // biome-ignore lint/complexity/noStaticOnlyClass: some authors write tools like this
    class Static {
      static readonly description = 'All of it on the class';
      static readonly answer = '42';
      static execute() {
        // biome-ignore lint/complexity/noThisInStatic: it is to be kept
        return this.answer;
      }
    }
    Object.defineProperty(Static, 'name', { value: 'all_static', enumerable: true });
    const chest = await openWith(Fixed as AnyTool, Static);
    expect(await chest.call('fixed', {})).toMatchObject({ error: { code: 'invalid_input' } });
    expect(textOf(await chest.call('all_static', {}))).toBe('42');
  });

  it('instructions that are not text are refused, and their failure is not left unhandled', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const tool = {
      name: 'late',
      description: '',
      execute: () => 1,
      get_ai_prompt_instructions: () => Promise.reject(new Error('no')),
    };
    await expect(createCrib({ tools: [Object.assign(Object.create({}), tool)] })).rejects.toThrow('instructions');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('the members of the second design are read: category, tags, prompt instructions, null as none', async () => {
    class AITool {
      readonly category: string | null = null;
      readonly tags: string[] = [];
      get_ai_prompt_instructions(): string {
        return `Use ${(this as unknown as { name: string }).name} with care.`; // of the subclass
      }
    }
    class ReadFile extends AITool {
      readonly name = 'read_file';
      readonly description = 'Reads a file';
      readonly parameters_schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
      override readonly tags = ['file_io'];
      async execute({ path }: { path: string }) {
        return path;
      }
    }
    await openWith(new ReadFile());
    expect(crib?.get('read_file')).toMatchObject({ tags: ['file_io'], instructions: 'Use read_file with care.' });
    expect(crib?.get('read_file')).not.toHaveProperty('category');
  });

  it.each([
    [
      'nothing at all',
      class Empty {},
      'class Empty is not a tool: an instance has no name, no description and no execute or run',
    ],
    [
      'no description',
      class Short {
        name = 'short';
        run() {}
      },
      'class Short is not a tool: an instance has no description',
    ],
    [
      'a constructor that throws',
      class Broken {
        name = 'broken';
        constructor() {
          throw new Error('no key');
        }
        run() {}
      },
      'class Broken cannot be instantiated: its constructor throws: no key',
    ],
    [
      'a factory that has to be awaited',
      class Late {
        static async create() {
          return new Late();
        }
        run() {}
      },
      'class Late cannot be created here: its create() returns a promise',
    ],
    [
      'two ways to run',
      class Twice {
        name = 'twice';
        description = '';
        run() {}
        execute() {}
      },
      'Tool "twice" has both run and execute',
    ],
    [
      'two schemas',
      class Two {
        name = 'two';
        description = '';
        input = {};
        parameters = {};
        run() {}
      },
      'Tool "two" has both input and parameters',
    ],
    [
      'a schema that is a method',
      class Method {
        name = 'method';
        description = '';
        parameters() {}
        run() {}
      },
      'Tool "method": parameters is a method',
    ],
  ])('a class with %s is refused in words', async (_what, tool, message) => {
    crib = await createCrib();
    expect(crib.register(tool as unknown as AnyTool)).toMatchObject({
      ok: false,
      rejected: [{ reason: expect.stringContaining(message) }],
    });
    await expect(createCrib({ tools: [tool as unknown as AnyTool] })).rejects.toThrow(message);
  });

  it('a plain function is not a tool', async () => {
    crib = await createCrib();
    expect(crib.register((() => 1) as unknown as AnyTool)).toMatchObject({ ok: false });
  });
});
