// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { cribWith, realServer, saidOf, serverOf, stateOf } from './upstream.ts';

describe('the environment of a server', () => {
  it('has the few inherited variables, overridden by configured ones; secrets reach only this server', async () => {
    process.env.UPSTREAM_SECRET = 'a-very-secret-value';
    onTestFinished(() => void delete process.env.UPSTREAM_SECRET);
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'env'), '# comment\nFROM_FILE="file value"\nBOTH=file\n');
    const mcp = {
      ...realServer('server-everything'),
      env: { TOKEN: 'Bearer ${secret:s}', BOTH: 'configuration', PLAIN: 'plain' },
      envFile: join(folder, 'env'),
    };
    const rest = { secrets: { s: { env: 'UPSTREAM_SECRET' } } };
    const crib = await cribWith({ every: { mcp } }, { rest });
    const result = await (await crib.open()).call('every_get-env');
    const env = JSON.parse(saidOf(result)) as Record<string, string>; // what it prints
    expect(env).toMatchObject({
      TOKEN: 'Bearer a-very-secret-value',
      FROM_FILE: 'file value',
      BOTH: 'configuration',
      PLAIN: 'plain',
      PATH: process.env.PATH,
    });
    const others = Object.keys(process.env).filter((name) => name.startsWith('VITEST') || name === 'NODE_ENV');
    for (const name of ['UPSTREAM_SECRET', ...others]) expect(env).not.toHaveProperty(name);
    expect(JSON.stringify([crib.sources(), crib.warnings(), crib.catalog.specs])).not.toContain('a-very-secret-value');
  });

  it('a secret in its output is hidden from the operator, too', async () => {
    process.env.UPSTREAM_SECRET = 'a-very-secret-value';
    onTestFinished(() => void delete process.env.UPSTREAM_SECRET);
    const mcp = {
      command: 'sh',
      args: ['-c', 'echo "the token is $TOKEN" >&2; exit 1'],
      env: { TOKEN: '${secret:s}' },
    };
    const crib = await cribWith({ s: { mcp } }, { rest: { secrets: { s: { env: 'UPSTREAM_SECRET' } } } });
    expect(stateOf(crib, 's')?.reason).toContain('the token is [secret s]');
    expect(crib.sourceOutput('s')).toContain('the token is [secret s]');
  });

  it.each([
    ['that is longer than what is quoted', 'head.tail-of-the-secret'.repeat(20)],
    ['of many lines', `-----BEGIN KEY-----\n${'mno4PQR5stu6VWX7'.repeat(3)}\n${'abc1DEF2ghi3JKL4'.repeat(3)}`],
    ['with spaces around it', '  the-secret-itself  '],
    ['that holds what ends a line for some readers', 'the-first-half\u2028the-second-half'],
  ])('a secret %s is not shown in part either', async (_, secret) => {
    process.env.UPSTREAM_SECRET = secret;
    onTestFinished(() => void delete process.env.UPSTREAM_SECRET);
    const mcp = { command: 'sh', args: ['-c', 'echo "$TOKEN" >&2; exit 1'], env: { TOKEN: '${secret:s}' } };
    const crib = await cribWith({ s: { mcp } }, { rest: { secrets: { s: { env: 'UPSTREAM_SECRET' } } } });
    expect(stateOf(crib, 's')?.reason).toContain('"sh" ended with exit code 1; its last output: [secret s]');
    const shown = JSON.stringify([crib.sources(), crib.warnings(), crib.sourceOutput('s')]);
    for (const part of secret.split(/[\s\u2028-]{2,}|[\n\u2028]/).filter((text) => text.length > 8))
      expect(shown).not.toContain(part);
    expect(shown).not.toContain('head.tail');
  });

  it('a missing secret or file fails only that source', async () => {
    const sources = {
      secret: { mcp: { ...serverOf('rough.ts'), env: { TOKEN: '${secret:gone}' } } },
      file: { mcp: { ...serverOf('rough.ts'), envFile: '/there/is/no/such/file' } },
      fine: { mcp: serverOf('rough.ts') },
    };
    const crib = await cribWith(sources, { rest: { secrets: { gone: { env: 'THERE_IS_NO_SUCH_VARIABLE' } } } });
    expect(stateOf(crib, 'secret')?.reason).toContain('The secret "gone" was not found');
    expect(stateOf(crib, 'file')?.reason).toContain('its envFile cannot be read');
    expect(stateOf(crib, 'fine')).toMatchObject({ state: 'ready' });
  });
});

describe('a pasted server', () => {
  it('has the call timeout of its entry, and requires approval where another program would run at once', async () => {
    const s = { ...serverOf('editable.ts'), timeout: 5, autoApprove: ['wipe'], alwaysAllow: ['wipe'] };
    const crib = await cribWith({}, { rest: { mcpServers: { s, off: { ...s, disabled: true } } } });
    expect(crib.catalog.specs.map(({ name, policy }) => [name, policy.timeoutMs])).toEqual([
      ['s_mark', 5000],
      ['s_pid', 5000],
      ['s_wipe', 5000],
    ]);
    expect(await (await crib.open()).call('s_wipe')).toMatchObject({ ok: false, error: { code: 'denied' } });
    expect(crib.warnings()).toEqual([]);
    expect(crib.server.readings()).toEqual([
      expect.stringMatching(
        /^mcpServers\.s: timeout: 5 is the call timeout, 5000 ms; autoApprove is ignored.*; alwaysAllow is ignored/,
      ),
      'mcpServers.off is disabled and skipped.',
    ]);
  });
});

describe('real servers', () => {
  it('server-everything: text, images, links, structured content, progress', async () => {
    const crib = await cribWith({ e: { mcp: realServer('server-everything') } });
    const chest = await crib.open();
    expect(saidOf(await chest.call('e_echo', { message: 'hi' }))).toBe('Echo: hi');
    expect(await chest.call('e_get-tiny-image')).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'text' }],
    });
    expect(await chest.call('e_get-structured-content', { location: 'New York' })).toMatchObject({
      data: { temperature: expect.any(Number) },
    });
    const links = await chest.call('e_get-resource-links', { count: 2 });
    expect(links).toMatchObject({ content: [{}, { type: 'resource_link' }, { type: 'resource_link' }] });
    const steps: unknown[] = [];
    await chest.call(
      'e_trigger-long-running-operation',
      { duration: 0.1, steps: 2 },
      { onProgress: (step) => void steps.push(step) },
    );
    expect(steps).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
    expect(saidOf(await chest.call('e_echo', {}))).toBe('invalid_input');
  });

  it('server-filesystem and server-memory, through a shell and pasted', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a.txt'), 'content of a');
    const files = realServer('server-filesystem', folder);
    const memory = { ...realServer('server-memory'), env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } };
    const sh = { command: 'sh', args: ['-c', '"$0" "$@"; true', files.command, ...files.args] };
    const crib = await cribWith({ fs: { mcp: sh } }, { rest: { mcpServers: { memory } } });
    const chest = await crib.open();
    expect(saidOf(await chest.call('fs_read_text_file', { path: join(folder, 'a.txt') }))).toBe('content of a');
    expect(await chest.call('fs_read_text_file', { path: '/etc/passwd' })).toMatchObject({
      ok: false,
      error: { code: 'tool_error' },
    });
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }];
    expect(await chest.call('memory_create_entities', { entities })).toMatchObject({ ok: true });
    expect(await chest.call('memory_search_nodes', { query: 'Ada' })).toMatchObject({ data: { entities } });
  });
});
