import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { defaultCrib, resetDefaultCrib } from '../../src/index.ts';
import { folderWith, namesOf, write } from './workshop.ts';

afterEach(async () => {
  await resetDefaultCrib();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const PLUGIN =
  'export const tool = { name: "plugged", description: "d", input: { type: "object" }, execute: () => "from a plugin" };\n';
const workIn = (folder: string) => vi.spyOn(process, 'cwd').mockReturnValue(folder);

describe('defaultCrib()', () => {
  it('has the tools of the configuration in the working directory and of $TOOLCRIB_PLUGINS_DIR', async () => {
    const plugins = folderWith({ 'plugin.mjs': PLUGIN });
    const configured = 'tools: [{ name: written, description: d, run: { kind: shell, command: [date] } }]\n';
    workIn(folderWith({ 'toolcrib.yaml': configured }));
    vi.stubEnv('TOOLCRIB_PLUGINS_DIR', plugins);
    const crib = await defaultCrib();
    expect(namesOf(crib).toSorted()).toEqual(['plugged', 'written']);
    expect(await (await crib.open()).call('plugged')).toMatchObject({ content: [{ text: 'from a plugin' }] });
  });

  it('has plugins without a configuration, and leaves no store behind', async () => {
    const folder = folderWith({});
    workIn(folder);
    vi.stubEnv('TOOLCRIB_PLUGINS_DIR', folderWith({ 'plugin.mjs': PLUGIN }));
    const crib = await defaultCrib();
    expect(await (await crib.open()).call('plugged')).toMatchObject({ ok: true });
    expect(existsSync(join(folder, '.toolcrib/crib.db'))).toBe(false);
  });

  it('is one instance, also for concurrent callers', async () => {
    workIn(folderWith({}));
    const [one, other] = await Promise.all([defaultCrib(), defaultCrib()]);
    expect(one).toBe(other);
  });

  it('reports an error of the configuration, and tries again once it is corrected', async () => {
    const folder = folderWith({ 'toolcrib.yaml': 'tolls: []\n' });
    workIn(folder);
    await expect(defaultCrib()).rejects.toMatchObject({ code: 'invalid_config' });
    write(folder, { 'toolcrib.yaml': 'tools: []\n' });
    expect(namesOf(await defaultCrib())).toEqual([]);
  });
});
