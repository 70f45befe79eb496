import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, run, unpack } from './install-packed.ts';
import { installPacked } from './packed-once.ts';
import { deadLinks } from './run-page.ts';

const home = mkdtempSync(join(tmpdir(), 'toolcrib-package-'));
const installed = join(home, 'node_modules/toolcrib');
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
beforeAll(() => void installPacked(home));

/** A Node of this machine that is too old; most have none. */
const OLD_NODE = ['/usr/bin/node', '/usr/local/bin/node'].flatMap((program) => {
  const { stdout, status } = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  const version = (stdout ?? '').trim();
  return status === 0 && Number.parseInt(version, 10) < 22 ? [{ program, version }] : [];
})[0];

describe('the packed package', () => {
  it('contains what it needs and no development files', () => {
    expect(readdirSync(installed).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist',
      'docs',
      'examples',
      'models',
      'package.json',
      'schema',
    ]);
    expect(readdirSync(join(installed, 'dist'))).toContain('index.d.ts');
  });

  it('has pages whose relative links lead to files of the package', () => {
    const pages = globSync('{*.md,{docs,examples,models}/**/*.md}', { cwd: installed });
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/library.md']));
    expect(
      Object.fromEntries(pages.map((page) => [page, deadLinks(installed, page)]).filter(([, dead]) => dead?.length)),
    ).toEqual({});
  });

  it('leaves out files that a run of an example creates', async () => {
    const copy = join(home, 'copy');
    for (const file of ['examples/kept.ts', 'examples/starter/.toolcrib/crib.db', 'examples/py/__pycache__/a.pyc']) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), '');
    }
    cpSync(join(ROOT, 'package.json'), join(copy, 'package.json'));
    const unpacked = await unpack(copy, join(home, 'unpacked'));
    expect(readdirSync(join(unpacked, 'examples'), { recursive: true })).toEqual(['kept.ts']);
  });

  it('has name, version and licence of every package whose code it bundles', () => {
    const notices = readFileSync(join(installed, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const code = globSync('dist/**/*.{js,cjs,mjs}', { cwd: installed }).map((file) =>
      readFileSync(join(installed, file), 'utf8'),
    );
    // The bundler writes the path of each file above its code.
    const paths = code.flatMap((text) => [
      ...text.matchAll(/^\s*\/\/ (?:.*\/)?node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//gm),
    ]);
    const bundled = new Set(paths.map(([, name = '']) => name));
    expect(bundled).toContain('yaml');
    for (const name of bundled) {
      const folder = join(ROOT, 'node_modules', name);
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      expect(notices).toContain(`${name} ${version} (${license})`);
      const [file = ''] = globSync('{LICENSE,LICENCE,license,licence}*', { cwd: folder });
      expect(notices).toContain(readFileSync(join(folder, file), 'utf8').trim());
    }
  });

  it('has the console, with name, version and licence of every package in it, and serves it', async () => {
    const notices = readFileSync(join(installed, 'dist/ui/THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of ['react', 'react-dom', '@mantine/core', '@tanstack/query-core', '@fontsource-variable/inter']) {
      const { version, license } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'));
      expect(notices).toContain(`${name} ${version} (${license})`);
    }
    const folder = join(home, 'served');
    mkdirSync(folder);
    writeFileSync(join(folder, 'toolcrib.yaml'), 'sources: {}\n');
    const program = join(installed, 'dist/cli/main.js');
    const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
      cwd: folder,
      env: { ...process.env, HOME: folder },
    });
    try {
      const [, url] = await new Promise<RegExpExecArray>((resolve) => {
        let said = '';
        server.stderr.on('data', (text) => {
          said += text;
          const found = /listens on (http:\S+)/.exec(said);
          if (found !== null) resolve(found);
        });
      });
      const page = await (await fetch(`${url}/tools`)).text();
      expect(page).not.toContain('__NONCE__');
      const [, script = ''] = /src="(\/assets\/index-[^"]+\.js)"/.exec(page) ?? [];
      expect((await fetch(`${url}${script}`)).headers.get('content-type')).toContain('text/javascript');
    } finally {
      server.kill();
    }
  });

  it('starts the writer thread of the store as the sources do', async () => {
    const code = `
      import { createCrib } from 'toolcrib';
      const crib = await createCrib({ store: { url: 'sqlite:crib.db' }, tools: [{ name: 'add', description: '', run: () => 1 }] });
      await (await crib.open()).call('add');
      console.log(JSON.stringify((await crib.calls.list({ limit: 1 })).map(({ tool }) => tool)));
      await crib.close();
    `;
    const folder = join(home, 'stored');
    mkdirSync(folder);
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: folder });
    expect([JSON.parse(stdout), stderr]).toEqual([['add'], '']);
  });

  it('has every class once, whichever of its exports are imported', async () => {
    const code = `
      import { ToolcribError } from 'toolcrib';
      import { createRetriever } from 'toolcrib/search';
      try { createRetriever('no list'); } catch (error) { console.log(error instanceof ToolcribError); }
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    expect(stdout).toBe('true\n');
  });

  it('takes less than 45 MB with its dependencies, and its code is ASCII, which V8 keeps with one byte a letter', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, object>;
    }; // of npm
    const runtime = Object.entries(lock.packages).filter(
      ([path, about]) =>
        path.startsWith('node_modules/') &&
        !['dev', 'devOptional', 'optional', 'peer', 'link'].some((key) => key in about),
    );
    const folders = [installed, ...runtime.map(([path]) => join(ROOT, path))];
    const files = folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !join(entry.parentPath).slice(folder.length).includes('node_modules'))
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    expect(files.length).toBeGreaterThan(1000);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(45_000_000);
    const code = globSync('dist/{lib,cli,packages}/**/*.{js,cjs}', { cwd: installed });
    expect(code.filter((file) => /[^\0-\x7f]/.test(readFileSync(join(installed, file), 'utf8')))).toEqual([]);
  });

  it('is imported as few files', async () => {
    const code = `
      import { registerHooks } from 'node:module';
      const files = [];
      registerHooks({ load(url, context, next) { if (url.startsWith('file:')) files.push(url); return next(url, context); } });
      const { createCrib } = await import('toolcrib');
      const imported = files.splice(0).length;
      const crib = await createCrib({ tools: [{ name: 'add', description: '', input: { type: 'object' }, run: () => 1 }] });
      const created = files.splice(0).length;
      await (await crib.open()).call('add', {});
      console.log(JSON.stringify([imported, created, files.length]));
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    const [imported, created, called] = JSON.parse(stdout) as [number, number, number]; // printed just now
    expect(imported).toBeLessThanOrEqual(20);
    expect(created).toBeLessThanOrEqual(4);
    expect(called).toBeLessThanOrEqual(1);
  });

  it('works with its runtime dependencies only', async () => {
    const code = `
      import { createCrib, defineTool } from 'toolcrib';
      const add = defineTool({ name: 'add', description: '', input: { type: 'object', properties: { a: { type: 'number' }, code: { type: 'string', pattern: '^x+$' } }, required: ['a'] }, run: ({ a }) => a + 1 });
      const crib = await createCrib({ tools: [add] });
      const chest = await crib.open();
      console.log(JSON.stringify([await chest.call('add', { a: 1, code: 'xx' }), await chest.call('add', { a: '1', code: 'y' })]));
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    const [good, bad] = JSON.parse(stdout);
    expect(good).toMatchObject({ ok: true, data: 2 });
    expect(bad).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    expect(bad.error.issues).toHaveLength(2);
  });

  it.each(['openai', 'anthropic', 'gemini', 'mcp', 'ai-sdk', 'langchain'])('exports the format %s', async (format) => {
    const code = `console.log(Object.keys(await import('toolcrib/formats/${format}')).length)`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    expect(Number(stdout)).toBeGreaterThanOrEqual(3);
  });

  it.skipIf(OLD_NODE === undefined)('names the required version on an old Node (needs another Node)', async () => {
    const { program, version } = OLD_NODE ?? { program: '', version: '' };
    const code = `await import('toolcrib').catch((error) => console.log(error.name + ': ' + error.message))`;
    const { stdout } = await run(program, ['--input-type=module', '--eval', code], { cwd: home });
    expect(stdout).toBe(`ToolcribError: Toolcrib requires Node 22.18 or newer; this is Node ${version}.\n`);
    const command = run(program, [join(installed, 'dist/cli/main.js'), 'list'], { cwd: home });
    await expect(command).rejects.toMatchObject({
      code: 2,
      stderr: `Toolcrib requires Node 22.18 or newer; this is Node ${version}.\n`,
    });
  });

  it.skipIf(OLD_NODE === undefined)(
    'installs its development files silently on an old Node (needs another Node)',
    async () => {
      const folder = join(home, 'workshop');
      for (const file of ['package.json', 'package-lock.json', 'ui/package.json', '.npmrc'])
        cpSync(join(ROOT, file), join(folder, file));
      const { program = '' } = OLD_NODE ?? {};
      const env = { HOME: home, PATH: `${dirname(program)}:/usr/bin:/bin` };
      const { stderr } = await run(
        'npm',
        ['ci', '--dry-run', '--offline', '--ignore-scripts', '--no-update-notifier'],
        { cwd: folder, env },
      );
      expect(stderr).toBe('');
    },
  );

  it('exports a retriever that works without a crib, with the vectors of the package', async () => {
    const code = `
      import { createRetriever } from 'toolcrib/search';
      const retriever = createRetriever([{ name: 'send_mail', description: 'Send an email' }, { name: 'bake', description: 'Bake bread' }]);
      const [best] = await retriever.search('compose a message to a colleague');
      console.log(JSON.stringify(best));
    `;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    expect(JSON.parse(stdout)).toMatchObject({ name: 'send_mail', why: expect.stringContaining('meaning') });
    expect(stderr).toBe('');
  });

  it('exports the contract suite of executors', async () => {
    const code = `console.log(Object.keys(await import('toolcrib/testing')).join())`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    expect(stdout.trim()).toBe('executorContract,fakeExecutor,sourceContract,testCall,testSpec');
  });

  it('has a command that reads a configuration, runs a module of it and stores specs', async () => {
    const folder = join(home, 'project');
    mkdirSync(join(folder, 'plugins'), { recursive: true });
    writeFileSync(
      join(folder, 'toolcrib.yaml'),
      'sources:\n  mine: { modules: ./plugins }\n  stored: { database: true }\n',
    );
    const plugin =
      "import { defineTool } from 'toolcrib';\nexport const add = defineTool({ name: 'add', description: '', input: { type: 'object', properties: { a: { type: 'number' } } }, run: ({ a }) => a + 1 });\n";
    writeFileSync(join(folder, 'plugins/add.mjs'), plugin);
    const spec = { name: 'page', description: '', run: { kind: 'http', method: 'GET', url: 'https://example.com' } };
    writeFileSync(join(folder, 'spec.json'), JSON.stringify({ tools: [spec] }));
    const toolcrib = (...words: string[]) =>
      run(process.execPath, [join(installed, 'dist/cli/main.js'), ...words], {
        cwd: folder,
        env: { ...process.env, XDG_CACHE_HOME: join(home, 'cache') },
      });
    expect((await toolcrib('call', 'add', 'a=1')).stdout).toBe('2\n');
    await toolcrib('specs', 'add', 'spec.json');
    const { tools } = JSON.parse((await toolcrib('list', '--json')).stdout);
    expect(tools.map((tool: { name: string }) => tool.name)).toEqual(['add', 'page']);
  });

  it('imports nothing heavy', async () => {
    const code = `
      import 'toolcrib';
      import { createRequire } from 'node:module';
      const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => /ajv|re2js/.test(path));
      console.log(JSON.stringify(loaded));
    `;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: home });
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
