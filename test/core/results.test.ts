import { describe, expect, it } from 'vitest';
import { ToolcribError, toolError } from '../../src/core/tool-error.ts';
import { done, failed, outcome, textOf, type WaitingResult } from '../../src/core/tool-result.ts';

const WAITING: WaitingResult = {
  ok: false,
  status: 'waiting',
  waiting: { for: 'approval', id: 'a1', expiresAt: Date.UTC(2026, 0, 2) },
};

describe('results', () => {
  it('A text is a result with one piece of text and no data.', () => {
    expect(done('hello')).toStrictEqual({ ok: true, status: 'done', content: [{ type: 'text', text: 'hello' }] });
  });

  it('Content and data are kept as they are, also data that is null, false or empty.', () => {
    const content = [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] as const;
    expect(done(content, null)).toStrictEqual({ ok: true, status: 'done', content, data: null });
    expect(done('', false).data).toBe(false);
    expect(done('', '').data).toBe('');
  });

  it('A failure carries its error and is not ok.', () => {
    const error = toolError('denied', 'No.');
    expect(failed(error)).toStrictEqual({ ok: false, status: 'failed', error });
  });
});

describe('toolError', () => {
  it('An error is not retryable unless said.', () => {
    expect(toolError('timeout', 'Late.')).toStrictEqual({ code: 'timeout', message: 'Late.', retryable: false });
    expect(toolError('timeout', 'Late.', { retryable: true, retryAfterMs: 5 })).toMatchObject({
      retryable: true,
      retryAfterMs: 5,
    });
  });

  it('The cause is available to the log, and no response contains it.', () => {
    const cause = new Error('password=hunter2');
    const error = toolError('internal', 'Failed.', { cause });
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(error)).toBe('{"code":"internal","message":"Failed.","retryable":false}');
    expect({ ...error }).not.toHaveProperty('cause');
  });

  it('A developer’s mistake has a stable code, a message and its cause.', () => {
    const cause = new Error('x');
    const error = new ToolcribError('duplicate', 'Twice.', { cause });
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message, error.cause]).toEqual([
      'ToolcribError',
      'duplicate',
      'Twice.',
      cause,
    ]);
  });
});

describe('textOf', () => {
  it('A result reads as its pieces of text, one a line; pictures are not text.', () => {
    const content = [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'text', text: 'two' },
    ] as const;
    expect(textOf(done(content))).toBe('one\ntwo');
  });

  it('A failure reads as its code, its message and each issue with its place.', () => {
    const issues = [
      { path: '', message: 'must have "a"' },
      { path: '/b/0', message: 'must be a number' },
    ];
    expect(textOf(failed(toolError('invalid_input', 'Not valid.', { issues })))).toBe(
      'invalid_input: Not valid.\n- arguments: must have "a"\n- /b/0: must be a number',
    );
  });

  it("The tool's own text about its failure comes before the message.", () => {
    const result = {
      ...failed(toolError('tool_error', 'Failed.')),
      content: [{ type: 'text', text: 'disk full' }],
    } as const;
    expect(textOf(result)).toBe('disk full');
  });

  it('A waiting result reads as what it waits for, its id and its expiry.', () => {
    expect(textOf(WAITING)).toBe('Waiting for approval (id a1) until 2026-01-02T00:00:00.000Z.');
  });
});

describe('outcome', () => {
  it('A change is ok only if nothing was refused.', () => {
    expect(outcome(['a'])).toEqual({ ok: true, applied: ['a'], rejected: [] });
    expect(outcome(['a'], [{ name: 'b', reason: 'unknown' }]).ok).toBe(false);
    expect(outcome([]).ok).toBe(true);
  });
});
