import { cpSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolCall } from '../../src/index.ts';
import { cribOf, folderWith, namesOf, write } from './workshop.ts';

const PLUGIN = `
export const greet = {
  name: 'greet', description: 'Greets', needs: ['clock', 'setting:voice'],
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  execute: ({ name }, call) => call.settings.voice + ' ' + name + ' at ' + call.services.clock.now(),
};
`;

describe('a crib with a configuration', () => {
  it('runs a code tool from a scanned directory with a service and settings from configuration', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
sources: { mine: { modules: ./plugins, settings: { voice: Hello } } }
services: { clock: ./clock.js }
profiles: { assistant: {}, loud: { settings: { voice: HELLO } } }
defaultProfile: assistant
`,
      'clock.js': "export default { now: () => 'noon' };",
      'plugins/greet.js': PLUGIN,
      'package.json': '{ "type": "module" }',
    });
    const crib = await cribOf(folder);
    expect(await (await crib.open()).call('greet', { name: 'Ann' })).toMatchObject({
      content: [{ text: 'Hello Ann at noon' }],
    });
    expect(await (await crib.open('loud')).call('greet', { name: 'Ann' })).toMatchObject({
      content: [{ text: 'HELLO Ann at noon' }],
    });
  });

  it('a service that cannot be created affects only the tools that need it, is reported, and is used once it can be', async () => {
    const tool = (name: string, needs: string) =>
      `export const ${name} = { name: '${name}', description: '', needs: ['${needs}'], execute: (_, call) => typeof call.services.clock };`;
    const folder = folderWith({
      'toolcrib.yaml':
        'sources: { mine: { modules: ./plugins } }\nservices: { clock: ./clock.js, made: ./made.js, gone: ./gone.js }\n',
      'clock.js': "throw new Error('no batteries');",
      'made.js': 'let count = 0;\nexport default () => ({ number: ++count });',
      'plugins/late.js': tool('late', 'clock'),
      'plugins/maybe.js': tool('maybe', 'clock?'),
      'plugins/fine.js': tool('fine', 'made'),
      'package.json': '{ "type": "module" }',
    });
    const crib = await cribOf(folder, { watch: false });
    const chest = await crib.open();
    expect(await chest.call('late')).toMatchObject({
      error: { code: 'unavailable', message: '"late" needs the service "clock", which is not configured.' },
    });
    for (const name of ['fine', 'maybe'])
      expect(await chest.call(name)).toMatchObject({ ok: true, content: [{ text: 'undefined' }] });
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/^The service "clock" .*clock\.js: .*no batteries/));
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/^The service "gone" .*gone\.js/));
    write(folder, { 'clock.js': 'export default {};' });
    await crib.reload();
    expect(await chest.call('late')).toMatchObject({ ok: true, content: [{ text: 'object' }] });
    expect(crib.warnings().join('\n')).not.toContain('"clock"');
  });

  it('a service stays the same if another one is edited', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'services: { made: ./made.js }\n',
      'made.js': 'let count = 0;\nexport default () => ({ number: ++count });',
      'package.json': '{ "type": "module" }',
    });
    const tools = [
      { name: 'which', description: '', needs: 'made', run: (_: unknown, call: ToolCall) => call.services.made },
    ];
    const crib = await cribOf(folder, { watch: false, tools });
    const chest = await crib.open();
    expect(await chest.call('which')).toMatchObject({ data: { number: 1 } });
    write(folder, { 'toolcrib.yaml': 'services: { made: ./made.js, other: ./made.js }\n' });
    await crib.reload();
    expect(await chest.call('which')).toMatchObject({ data: { number: 1 } });
  });

  it('runs a tool of an installed package, which needs no entry', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'profiles: {}\n',
      'package.json': '{ "type": "module", "dependencies": { "acme-tools": "1.0.0" } }',
      'node_modules/acme-tools/package.json':
        '{ "name": "acme-tools", "version": "1.0.0", "type": "module", "toolcrib": { "tools": { "acme": "./tools.js#acme" } } }',
      'node_modules/acme-tools/tools.js':
        "export const acme = { name: 'acme', description: '', execute: () => 'from a package' };",
    });
    const crib = await cribOf(folder);
    expect(await (await crib.open()).call('acme')).toMatchObject({ content: [{ text: 'from a package' }] });
  });

  it.each([
    ['true', ['bolt', 'nut'], []],
    ['false', [], []],
    ['[]', [], []],
    ['[acme-nuts]', ['nut'], []],
    ['[acme-nuts, acme-nails]', ['nut'], [expect.stringContaining('npm: The package "acme-nails" is not installed')]],
  ])('packages: %s lists these alone', async (packages, names, warnings) => {
    const offer = (tool: string) => `{ "type": "module", "toolcrib": { "tools": { "${tool}": "./tool.js" } } }`;
    const module = (tool: string) => `export default { name: '${tool}', description: '', execute: () => 1 };`;
    const folder = folderWith({
      'toolcrib.yaml': `sources: { npm: { packages: ${packages} } }\n`,
      'package.json': '{ "dependencies": { "acme-nuts": "1", "acme-bolts": "1" } }',
      'node_modules/acme-nuts/package.json': offer('nut'),
      'node_modules/acme-nuts/tool.js': module('nut'),
      'node_modules/acme-bolts/package.json': offer('bolt'),
      'node_modules/acme-bolts/tool.js': module('bolt'),
    });
    const crib = await cribOf(folder);
    expect([namesOf(crib), crib.warnings()]).toEqual([names, warnings]);
  });

  it('database: false lists nothing of the store', async () => {
    const stored = (isOn: boolean) => `sources: { mine: { database: ${isOn}, kinds: [http] } }\n`;
    const folder = folderWith({ 'toolcrib.yaml': stored(true) });
    const crib = await cribOf(folder);
    await crib.store?.specs.putAll(
      [{ name: 'ping', description: '', run: { kind: 'http', url: 'http://localhost/' } }],
      'test',
    );
    await crib.reload();
    expect(namesOf(crib)).toEqual(['ping']);
    write(folder, { 'toolcrib.yaml': stored(false) });
    await crib.reload();
    expect(namesOf(crib)).toEqual([]);
  });

  it.each([
    ['modules', 'modules: ./slow, initTimeoutMs: 300', 'slow/one.mjs'],
    ['packages', 'packages: true, initTimeoutMs: 300', 'node_modules/slow/one.mjs'],
  ])('initTimeoutMs bounds how long %s take to start', async (_, entry, file) => {
    const folder = folderWith({
      'toolcrib.yaml': `sources: { late: { ${entry} } }\n`,
      'package.json': '{ "dependencies": { "slow": "1" } }',
      'node_modules/slow/package.json': '{ "toolcrib": { "tools": { "one": "./one.mjs" } } }',
      [file]: "await new Promise(() => setInterval(() => {}, 1000)); export const one = { name: 'one', execute() {} };",
    });
    expect((await cribOf(folder)).warnings()).toContainEqual(expect.stringMatching(/^late: .*300 ms/));
  });

  it('initTimeoutMs bounds how long a list at an address may take', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => silent.closeAllConnections());
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo; // it listens on a port
    const folder = folderWith({
      'toolcrib.yaml': `sources: { far: { http: "http://127.0.0.1:${port}/", initTimeoutMs: 300 } }\n`,
    });
    expect((await cribOf(folder)).sources().slice(1)).toMatchObject([
      { name: 'far', reason: expect.stringContaining('300 ms') },
    ]);
  });

  it('tools of TOOLCRIB_PLUGINS_DIR are listed', async () => {
    const folder = folderWith({
      'toolcrib.yaml': '{}\n',
      'extra/one.mjs': "export const one = { name: 'one', description: '', execute: () => 1 };",
    });
    process.env.TOOLCRIB_PLUGINS_DIR = join(folder, 'extra');
    try {
      expect(namesOf(await cribOf(folder))).toEqual(['one']);
    } finally {
      delete process.env.TOOLCRIB_PLUGINS_DIR;
    }
  });

  it('inline specs are tools', async () => {
    const entry = '{ name: good, description: Good, run: { kind: shell, command: ["true"] } }';
    expect(namesOf(await cribOf(folderWith({ 'toolcrib.yaml': `tools:\n  - ${entry}\n` })))).toEqual(['good']);
  });

  it('a bad inline spec is shown with its place', async () => {
    const folder = folderWith({
      'toolcrib.yaml': 'tools:\n  - { name: "not good", run: { kind: shell, command: ["true"] } }\n',
    });
    const told = await cribOf(folder).then(
      (crib) => crib.warnings().join('\n'),
      (error: Error) => error.message,
    );
    expect(told).toContain('not good');
    expect(told).toMatch(/toolcrib\.yaml:2|tools\[0\]/);
  });

  it('overrides correct the claims of a source; higher layers only tighten', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
sources:
  local: { files: ./tools.json, prefix: box, exclude: [hidden], overrides: { "box_*": { effects: { destructive: true }, tags: [boxed], policy: { timeoutMs: 5 } } } }
`,
      'tools.json': JSON.stringify({
        tools: ['open', 'hidden'].map((name) => ({
          name,
          description: '',
          effects: { destructive: false },
          run: { kind: 'shell', command: ['true'] },
        })),
      }),
    });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['box_open']);
    expect(crib.get('box_open')).toMatchObject({
      effects: { destructive: true },
      tags: ['boxed'],
      policy: { timeoutMs: 5 },
    });
  });

  it('an extension of a module takes part; a built-in one can be configured or turned off', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
extensions:
  approval: { mode: always }
  retry: false
  mine: { module: ./mine.mjs, priority: 600 }
`,
      'mine.mjs':
        "export const mine = { name: 'other', priority: 500, veto: undefined, wrap: (call, next) => next(call) };",
    });
    const crib = await cribOf(folder, { tools: [{ name: 'tool', description: '', run: () => 1 }] });
    const names = crib.extensions.list().map((extension) => [extension.name, extension.priority]);
    expect(names).toContainEqual(['mine', 600]);
    expect(names.map(([name]) => name)).not.toContain('retry');
    expect(await (await crib.open()).call('tool')).toMatchObject({ error: { code: 'denied' } });
  });

  it('one bad source never stops the others: it is listed as failed, with its reason', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `
sources:
  later: { python: ./tools }
  gone: { files: "\${NOWHERE_TO_BE_FOUND}/x" }
  fine: { files: ./tools.json }
`,
      'tools.json': JSON.stringify({
        tools: [{ name: 'fine', description: '', run: { kind: 'shell', command: ['true'] } }],
      }),
    });
    const crib = await cribOf(folder);
    expect(namesOf(crib)).toEqual(['fine']);
    expect(crib.sources().find((source) => source.name === 'later')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('does not exist'),
    });
    expect(crib.warnings().join('\n')).toContain('NOWHERE_TO_BE_FOUND');
  });

  it('the example of the contract loads; missing parts are listed as failed, and later features are named', async () => {
    const folder = folderWith({
      'services/clock.ts': "export default { now: () => 'noon' };",
      'extensions/mine.ts':
        "export const mine = { name: 'mine', priority: 500, wrap: (call: never, next: (call: never) => unknown) => next(call) };",
      'tools/one.yaml': 'tools: [{ name: add, description: Add, run: { kind: shell, command: ["true"] } }]',
      'plugins/two.ts': "export const two = { name: 'two', description: '', execute: () => 2 };",
      'mcp.yaml': 'thinking: { command: npx, args: ["server"], bundle: reasoning }',
    });
    cpSync(join(import.meta.dirname, '../config/fixtures/contract.yaml'), join(folder, 'toolcrib.yaml'));
    const { PATH } = process.env;
    process.env.PW_TOKEN = 'token';
    process.env.PATH = folder; // nothing is downloaded and started here
    try {
      const crib = await cribOf(folder);
      expect(namesOf(crib)).toEqual([
        'add',
        'two',
        'read_result',
        'search_tools',
        'call_tool',
        'list_bundles',
        'delegate',
      ]);
      const states = Object.fromEntries(crib.sources().map(({ name, state }) => [name, state]));
      expect(states).toMatchObject({
        local: 'ready',
        mine: 'ready',
        browser: 'failed',
        gh: 'failed',
        py: 'failed',
        petstore: 'failed',
        thinking: 'failed',
      });
      const reasons = crib.sources().filter(({ state }) => state === 'failed');
      const reasonOf = (name: string) => reasons.find((source) => source.name === name)?.reason;
      for (const name of ['py', 'petstore'])
        expect(reasonOf(name)).toMatch(/does not exist|cannot be read|is not there/);
      for (const name of ['browser', 'thinking']) expect(reasonOf(name)).toContain('program "npx" not found');
      expect(reasonOf('gh')).toMatch(/^The secret "github" was not found/);
      expect(crib.warnings()).toContain(
        'Profile "assistant": delegate names the profile "reader", which does not exist.',
      );
    } finally {
      delete process.env.PW_TOKEN;
      process.env.PATH = PATH;
    }
  });

  it('code and configuration are joined', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'profiles: { a: { include: [x] } }\n' });
    const crib = await cribOf(folder, { tools: [{ name: 'x', description: '', run: () => 1 }], profiles: { b: {} } });
    expect(crib.profiles()).toEqual(['a', 'b']);
  });
});
