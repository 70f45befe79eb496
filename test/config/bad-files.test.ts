// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/crib/config/load-config.ts';
import { loadYaml, messageOf, mistakesIn, writeFolder } from './write.ts';

const messageIn = (cwd: string, file?: string) =>
  messageOf(loadConfig({ cwd, env: {}, ...(file !== undefined && { file }) }));

describe('a file that cannot be a configuration is refused with a sentence', () => {
  it('if it has 50 MB, before it is read', async () => {
    const cwd = writeFolder({ 'toolcrib.yaml': '' });
    truncateSync(join(cwd, 'toolcrib.yaml'), 50_000_000);
    expect(await messageIn(cwd)).toBe('toolcrib.yaml is larger than 5 MB, the maximum size of a configuration file.');
  });

  it('but not if it has exactly the maximum size', async () => {
    const { config } = await loadYaml(`defaultProfile: a\n#${'x'.repeat(4_900_000)}`);
    expect(config.defaultProfile).toBe('a');
  });

  it.skipIf(!existsSync('/dev/zero'))('if it has no size and never ends', async () => {
    expect(await messageIn('/tmp', '/dev/zero')).toBe('/dev/zero is a pipe or a device, not a file.');
  });

  it('if it is binary', async () => {
    const bytes = Uint8Array.from({ length: 2000 }, (_, index) => (index * 7919) % 256);
    expect(await mistakesIn(bytes)).toBe('toolcrib.yaml is not a text file; save it as UTF-8.');
    expect(await mistakesIn('a: "\0"')).toMatch(/is not a text file/);
  });

  it('if it is text of another encoding', async () => {
    expect(await mistakesIn(Buffer.from('defaultProfile: caf\xe9', 'latin1'))).toMatch(/save it as UTF-8/);
  });

  it('if it is a folder', async () => {
    const cwd = writeFolder();
    mkdirSync(join(cwd, 'toolcrib.yaml'));
    expect(await messageIn(cwd)).toBe('toolcrib.yaml is a folder; pass the path of the file.');
    expect(await messageIn(cwd, '.')).toMatch(/is a folder; pass the path of the file\.$/);
  });

  it.skipIf(!existsSync('/proc/self/mem'))('if it cannot be read', async () => {
    expect(await messageIn('/tmp', '/proc/self/mem')).toBe('/proc/self/mem cannot be read (EIO).');
  });

  it.skipIf(process.platform === 'win32')('if it is a pipe, without waiting for its writer', async () => {
    const cwd = writeFolder();
    execFileSync('mkfifo', [join(cwd, 'toolcrib.yaml')]);
    expect(await messageIn(cwd)).toBe('toolcrib.yaml is a pipe or a device, not a file.');
  });

  it('if it is a link to itself', async () => {
    const cwd = writeFolder();
    symlinkSync('toolcrib.yaml', join(cwd, 'toolcrib.yaml'));
    expect(await messageIn(cwd)).toBe('toolcrib.yaml is a symbolic link that leads back to itself.');
  });

  it('if its path goes through a file', async () => {
    expect(await messageIn(writeFolder({ a: '' }), 'a/b.yaml')).toBe('a/b.yaml does not exist.');
  });
});

describe('a text without content is an empty configuration', () => {
  it.each([
    ['an empty file', ''],
    ['blank lines', '\n\n  \n'],
    ['only comments', '# sources:\n#   a: b\n'],
    ['an empty document', '---\n'],
    ['null', 'null'],
    ['a byte order mark', '\ufeff'],
    [
      'sections whose lines are commented out',
      'sources:\n  # a: b\nmcpServers:\ntools:\nbundles:\nprofiles:\nextensions:\n',
    ],
  ])('%s', async (_, text) => {
    expect((await loadYaml(text)).config).toEqual({ sources: {} });
  });
});

describe('a text as other systems write it is read', () => {
  const TEXT = 'defaultProfile: "ä"\nserver:\n  port: 1\n';
  const EXPECTED = { defaultProfile: 'ä', server: { port: 1 }, sources: {} };

  it.each([
    ['with Windows line ends', TEXT.replaceAll('\n', '\r\n')],
    ['with a byte order mark', `\ufeff${TEXT}`],
    ['in UTF-16, little end first', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['in UTF-16, big end first', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16()],
    ['as JSON', JSON.stringify({ defaultProfile: 'ä', server: { port: 1 } }, null, '\t')],
  ])('%s', async (_, text) => {
    expect((await loadYaml(text)).config).toEqual(EXPECTED);
  });

  it('and its errors have the right line', async () => {
    expect(await mistakesIn('\ufeffserver:\r\n  prot: 1\r\n')).toBe(
      [
        'toolcrib.yaml:2:3: server.prot is not known: server has no "prot". Did you mean "port"?',
        '  2 |   prot: 1',
        '    |   ^',
      ].join('\n'),
    );
  });
});
