import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCrib, type ToolInput } from '../../src/index.ts';

async function chestOf(...tools: readonly Record<string, unknown>[]) {
  const crib = await createCrib();
  for (const tool of tools) crib.register({ description: '', ...tool } as ToolInput); // after the start, as in tools
  onTestFinished(() => crib.close());
  return crib.open();
}

const INPUT = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

describe('built-in kinds without a configuration', () => {
  it('a command runs in the working directory and reads its files', async () => {
    const chest = await chestOf(
      { name: 'say', input: INPUT, run: { kind: 'shell', command: ['echo', '{text}'] } },
      { name: 'show', input: INPUT, run: { kind: 'shell', command: ['cat', '{text}'], paths: ['text'] } },
    );
    expect(await chest.call('say', { text: 'hello' })).toMatchObject({ ok: true, content: [{ text: 'hello\n' }] });
    expect(await chest.call('show', { text: 'package.json' })).toMatchObject({ ok: true });
    expect(await chest.call('show', { text: '/etc/hosts' })).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('protected paths stay protected from commands', async () => {
    const run = { kind: 'shell', command: ['touch', '{text}'], paths: ['text'], sandbox: { write: process.cwd() } };
    const chest = await chestOf({ name: 'edit', input: INPUT, policy: { approval: 'never' }, run });
    expect(await chest.call('edit', { text: 'package.json' })).toMatchObject({ ok: false });
  });

  it('a Python function runs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-code-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const file = join(folder, 'tool.py');
    writeFileSync(file, 'def shout(text: str) -> str:\n    return text.upper()\n');
    const chest = await chestOf({
      name: 'shout',
      input: INPUT,
      run: { kind: 'python', module: file, function: 'shout' },
    });
    expect(await chest.call('shout', { text: 'hello' })).toMatchObject({ ok: true, content: [{ text: 'HELLO' }] });
  });

  it('a request is sent, but not to a private address', async () => {
    const chest = await chestOf({ name: 'get', run: { kind: 'http', method: 'GET', url: 'http://127.0.0.1:1/' } });
    expect(await chest.call('get')).toMatchObject({ error: { message: expect.stringContaining('allowPrivate') } });
  });

  it('an undeclared secret keeps its tool from running', async () => {
    const run = { kind: 'shell', command: ['env'], env: { TOKEN: `\${secret:token}` } };
    const chest = await chestOf({ name: 'env', run });
    expect(await chest.call('env')).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  });
});
