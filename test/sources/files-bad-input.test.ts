import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { files } from '../../src/sources/files.ts';
import { makeWorkspace, namesIn, openCrib, statusOf, yamlOf } from './files-workspace.ts';

const isLinux = process.platform === 'linux';

/** What is said about a path that cannot be read, and that the other source is listed all the same. */
async function reasonFor(path: string): Promise<string> {
  const fine = makeWorkspace();
  fine.write('fine.yaml', yamlOf('fine'));
  const crib = await openCrib({ sources: [files({ name: 'bad', path }), files({ name: 'fine', path: fine.path })] });
  expect(namesIn(crib)).toEqual(['fine']);
  expect(statusOf(crib, 'bad')).toMatchObject({ state: 'failed', toolCount: 0 });
  return statusOf(crib, 'bad')?.reason ?? '';
}

describe('an unreadable path', () => {
  it('is one that does not exist', async () => {
    expect(await reasonFor(makeWorkspace().at('nothing.yaml'))).toContain('it does not exist');
  });

  it('is a file of another kind', async () => {
    expect(await reasonFor(makeWorkspace().write('tools.txt', 'x'))).toContain('its name must end in .yaml');
  });

  it('is a binary', async () => {
    expect(await reasonFor(makeWorkspace().write('tools.yaml', Uint8Array.of(0xff, 0xfe, 0, 1)))).toContain(
      'not text in UTF-8',
    );
  });

  it('is a file of more than 5 MB, or 50 for NDJSON', async () => {
    const line = `${JSON.stringify({ name: 'a', run: { kind: 'http' } })}\n`;
    expect(await reasonFor(makeWorkspace().write('a.yaml', Buffer.alloc(5_000_001, '#')))).toContain(
      'larger than 5000000 bytes',
    );
    expect(await reasonFor(makeWorkspace().write('a.json', Buffer.alloc(5_000_001, ' ')))).toContain(
      'larger than 5000000 bytes',
    );
    expect(await reasonFor(makeWorkspace().write('a.ndjson', Buffer.alloc(50_000_001, line)))).toContain(
      'larger than 50000000 bytes',
    );
  });

  it('is a file above the configured limit', async () => {
    const path = makeWorkspace().write('a.yaml', yamlOf('a', 'b'));
    const crib = await openCrib({ sources: [files({ name: 'local', path, maxBytes: 20 })] });
    expect(statusOf(crib, 'local')?.reason).toContain('larger than 20 bytes');
  });

  it.runIf(isLinux)('is a file without read permission', async () => {
    const workspace = makeWorkspace();
    workspace.link('memory.yaml', '/proc/self/mem');
    expect(await reasonFor(workspace.at('memory.yaml'))).toContain('it cannot be read (EIO)');
  });

  it.runIf(isLinux)('is a device or a pipe', async () => {
    const workspace = makeWorkspace();
    workspace.link('zero.yaml', '/dev/zero');
    expect(await reasonFor(workspace.at('zero.yaml'))).toContain('it is not a regular file');
    execFileSync('mkfifo', [workspace.at('pipe.yaml')]);
    expect(await reasonFor(workspace.at('pipe.yaml'))).toContain('it is not a regular file');
  });

  it('is a link in a circle', async () => {
    const workspace = makeWorkspace();
    workspace.link('a.yaml', workspace.at('b.yaml'));
    workspace.link('b.yaml', workspace.at('a.yaml'));
    expect(await reasonFor(workspace.at('a.yaml'))).toContain('it does not exist');
  });
});

describe('in a folder', () => {
  it('links in circles are followed once', async () => {
    const workspace = makeWorkspace();
    workspace.write('tools/inner/a.yaml', yamlOf('a'));
    workspace.link('tools/inner/up', workspace.at('tools'));
    workspace.link('tools/self', workspace.at('tools/inner'));
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.at('tools') })] });
    expect(namesIn(crib)).toEqual(['a']);
    expect(statusOf(crib, 'local')).toEqual({ name: 'local', state: 'ready', toolCount: 1 });
  });

  it('unreadable files are reported with their path, and the rest is loaded', async () => {
    const workspace = makeWorkspace();
    workspace.write('a.yaml', yamlOf('a'));
    workspace.write('b.yaml', 'tools:\n\t- x');
    workspace.link('c.yaml', workspace.at('nowhere'));
    workspace.write('d.yaml/e.yaml', yamlOf('e')); // a folder by the name of a file
    const crib = await openCrib({ sources: [files({ name: 'local', path: workspace.path })] });
    expect(namesIn(crib)).toEqual(['a', 'e']);
    expect(statusOf(crib, 'local')).toMatchObject({
      state: 'ready',
      reason: `${workspace.at('c.yaml')}: it is a broken link. And 1 more.`,
    });
    expect(crib.warnings()).toEqual([
      `local: ${workspace.at('c.yaml')}: it is a broken link.`,
      `local: ${workspace.at('b.yaml')}: it is not YAML: Tabs are not allowed as indentation at line 2, column 1.`,
    ]);
  });

  it('bad entries are reported with file, line and index', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('a.yaml', `${yamlOf('good')}- #x\n- { name: worse }\n`);
    const crib = await openCrib({ sources: [files({ name: 'local', path })] });
    expect(namesIn(crib)).toEqual(['good']);
    expect(crib.warnings()).toEqual([
      expect.stringContaining(`local: ${path}, line 3, tools[1]: null is not a tool`),
      expect.stringContaining(`local: ${path}, line 4, tools[2]: Tool "worse" has no run`),
    ]);
  });
});
