import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/crib/config/load-config.ts';

const FOLDER = join(import.meta.dirname, 'fixtures');
const load = () => loadConfig({ file: 'contract.yaml', cwd: FOLDER, env: { PW_TOKEN: 'value' } });

describe('the configuration example of the contract', () => {
  it('loads, with every source but the one whose file is not there', async () => {
    const { config, problems } = await load();
    expect(Object.keys(config.sources)).toEqual([
      'browser',
      'gh',
      'local',
      'mine',
      'npm',
      'py',
      'petstore',
      'team',
      'stored',
    ]);
    expect(problems).toEqual([
      { source: 'legacy', message: 'mcp.yaml does not exist.', file: 'contract.yaml', line: 14, column: 24 },
    ]);
  });

  it('keeps every section', async () => {
    const { config } = await load();
    expect(Object.keys(config).sort()).toEqual(
      [
        ...['access', 'bundles', 'defaultProfile', 'executors', 'extensions', 'onDuplicate', 'profiles', 'results'],
        ...['retrieval', 'secrets', 'server', 'services', 'sources', 'store', 'tools'],
      ].sort(),
    );
  });

  it('has its variables filled in and its secrets left for the moment of use', async () => {
    const { config } = await load();
    expect(config.sources.browser).toMatchObject({ mcp: { command: 'npx', env: { PW_TOKEN: 'value' } } });
    expect(config.sources.gh).toMatchObject({
      mcp: { headers: { Authorization: { secretTemplate: ['Bearer ', { secret: 'github' }] } } },
    });
  });

  it('has its relative paths resolved from its folder', async () => {
    const { config, file, folder, files } = await load();
    expect(folder).toBe(FOLDER);
    expect(file).toBe(join(FOLDER, 'contract.yaml'));
    expect(files).toEqual([join(FOLDER, 'contract.yaml'), join(FOLDER, 'mcp.yaml')]);
    expect(config.sources.local).toEqual({ files: join(FOLDER, 'tools') });
    expect(config.services).toEqual({ clock: join(FOLDER, 'services/clock.ts') });
    expect(config.store).toEqual({ url: `sqlite:${join(FOLDER, '.toolcrib/crib.db')}` });
  });

  it('is told that its webhook names a secret that is not declared', async () => {
    const { notes } = await load();
    expect(notes).toEqual([
      'extensions.approval.webhook.secret names the secret "chat", which is not declared under secrets.',
    ]);
  });

  it('cannot be changed by its readers', async () => {
    const { config } = await load();
    expect(() => Object.assign(config.sources, { more: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.profiles?.assistant?.policy ?? {}, { maxTimeoutMs: 1 })).toThrow(TypeError);
  });
});
