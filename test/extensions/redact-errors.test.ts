import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Crib, createCrib, done, failed, type ToolInput, type ToolResult, toolError } from '../../src/index.ts';

const SECRET = 'hunter2/hunter2';
afterEach(() => {
  vi.unstubAllEnvs();
});

const toolOf = (run: (input: unknown) => unknown): ToolInput => ({ name: 'tool', description: '', run });

/** A crib that knows one secret. */
function cribOf(tool: ToolInput, options: object = {}): Promise<Crib> {
  vi.stubEnv('TOOLCRIB_TEST_SECRET', SECRET);
  const secrets = { s: { env: 'TOOLCRIB_TEST_SECRET' } };
  return createCrib({ tools: [tool], secrets, store: { url: 'memory:' }, watch: false, ...options });
}
async function callOnce(run: (input: unknown) => unknown): Promise<ToolResult> {
  return (await (await cribOf(toolOf(run))).open()).call('tool', {});
}

describe('failures contain no secret', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error(`401 for ${SECRET}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error(`401 for ${SECRET}`))],
    ['returns a failure', () => failed(toolError('upstream', `401 for ${SECRET}`))],
    [
      'throws it in a URL',
      () => {
        throw new Error(`401 for ${encodeURIComponent(SECRET)}`);
      },
    ],
    [
      'throws it as base64',
      () => {
        throw new Error(`401 for ${Buffer.from(`me:${SECRET}`).toString('base64')}`);
      },
    ],
  ])('a tool that %s', async (_, run) => {
    const result = await callOnce(run);
    expect(result).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('[secret s]') } });
    expect(JSON.stringify(result)).not.toMatch(/hunter2|aHVudGVy|h1bnRlcj|odW50ZX/);
  });

  it('in the message, the issues, the content, the data and the meta', async () => {
    const text = { type: 'text', text: `no: ${SECRET}` } as const;
    const result = await callOnce(() => ({
      ...failed(
        toolError('invalid_output', SECRET, {
          retryable: true,
          retryAfterMs: 5,
          issues: [{ path: `/${SECRET.replace('/', '~1')}`, message: SECRET }],
        }),
      ),
      content: [text, { type: 'resource', resource: { uri: `x:${SECRET}`, text: SECRET } }],
      data: { [SECRET]: [SECRET, 1, null] },
      meta: { said: SECRET },
    }));
    expect(result).toEqual({
      ok: false,
      status: 'failed',
      error: {
        code: 'invalid_output',
        message: '[secret s]',
        retryable: true,
        retryAfterMs: 5,
        issues: [{ path: '/[secret s]', message: '[secret s]' }],
      },
      content: [
        { type: 'text', text: 'no: [secret s]' },
        { type: 'resource', resource: { uri: 'x:[secret s]', text: '[secret s]' } },
      ],
      data: { '[secret s]': ['[secret s]', 1, null] },
      meta: { said: '[secret s]' },
    });
  });

  it('in the cause', async () => {
    const inner = new Error('outside', { cause: new Error(SECRET) });
    const result = await callOnce(() => {
      throw new Error('nothing to see', { cause: inner });
    });
    const { cause } = (result as { error: { cause: Error } }).error;
    expect(cause.message).toBe('nothing to see');
    expect(cause.cause).toBeUndefined();
  });

  it('a cause without one stays', async () => {
    const thrown = new Error('it broke');
    const result = await callOnce(() => {
      throw thrown;
    });
    expect((result as { error: { cause: unknown } }).error.cause).toBe(thrown);
  });

  it('cyclic content is copied, not followed forever', async () => {
    const around: Record<string, unknown> = { said: SECRET };
    around.again = around;
    const result = await callOnce(() => ({ ...failed(toolError('upstream', 'no')), meta: around }));
    const { meta } = result as unknown as { meta: { said: string; again: unknown } };
    expect(meta.said).toBe('[secret s]');
    expect(meta.again).toBe(meta);
  });

  it('an unknown name is not repeated with a secret in it, nor with the beginning of one', async () => {
    const chest = await (await cribOf(toolOf(() => 1))).open();
    expect(await chest.call(`get_${SECRET}`)).toMatchObject({
      error: { message: 'The tool "get_[secret s]" was not found.' },
    });
    const cut = await chest.call(`${'x'.repeat(188)}${SECRET}`);
    expect(JSON.stringify(cut)).not.toContain('hunter2');
  });

  it('in refused arguments', async () => {
    const tool = { ...toolOf(() => 1), input: { type: 'object', additionalProperties: false } } as ToolInput;
    const result = await (await (await cribOf(tool)).open()).call('tool', { [SECRET]: 1 });
    expect(result).toMatchObject({ error: { code: 'invalid_input' } });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('in the error that observers see', async () => {
    const told: unknown[] = [];
    const watcher = { name: 'watcher', priority: 2000, onEnd: (_: unknown, result: unknown) => void told.push(result) };
    const crib = await cribOf(
      toolOf(() => {
        throw new Error(SECRET);
      }),
      { extensions: [watcher] },
    );
    await (await crib.open()).call('tool', {});
    expect(told).toMatchObject([{ error: { message: '[secret s]' } }]);
  });
});

describe('successful results belong to the tool', () => {
  it('a result passes unchanged', async () => {
    const answer = done(SECRET);
    expect(await callOnce(() => answer)).toBe(answer);
  });

  it('a failure without a secret passes unchanged', async () => {
    const failure = failed(toolError('upstream', 'no'));
    expect(await callOnce(() => failure)).toBe(failure);
  });

  it('without a configuration there are no secrets, and redaction is skipped', async () => {
    const crib = await createCrib({ tools: [toolOf(() => 1)] });
    const gate = crib.extensions.list().find(({ name }) => name === 'redactErrors');
    expect(gate?.applies?.(crib.get('tool') as never)).toBe(false);
  });
});

describe('warnings and reports of sources contain no secret', () => {
  it('an observer that fails, a source that fails', async () => {
    const warned: unknown[] = [];
    const listen = (warning: Error) => void warned.push(warning.message);
    process.on('warning', listen);
    const source = { name: 'down', start: () => Promise.reject(new Error(`no luck with ${SECRET}`)) };
    const observer = {
      name: 'loud',
      priority: 500,
      onEnd() {
        throw new Error(SECRET);
      },
    };
    const crib = await cribOf(
      toolOf(() => 1),
      { sources: [source], extensions: [observer] },
    );
    await (await crib.open()).call('tool', {});
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(crib.sources()).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('[secret s]') }));
    expect(crib.warnings().join()).toContain('The observer "loud" failed: [secret s]');
    expect([...warned, ...crib.warnings(), ...crib.sources().map(({ reason }) => reason)].join()).not.toContain(
      'hunter2',
    );
  });
});
