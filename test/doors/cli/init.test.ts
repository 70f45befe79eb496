import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { writeWhole } from '../../../src/doors/cli/commands/write-config.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

let shop: Workshop;
const open = (files: Readonly<Record<string, string>> = {}) => {
  shop = createWorkshop(files);
  return shop;
};
const read = () => readFileSync(join(shop.folder, 'toolcrib.yaml'), 'utf8');
afterEach(() => shop.remove());

describe('toolcrib init', () => {
  it('writes a commented configuration that check accepts', async () => {
    open();
    expect(await shop.run(['init'])).toMatchObject({ code: 0, stdout: 'toolcrib.yaml\n' });
    expect(readdirSync(shop.folder)).toEqual(['toolcrib.yaml']);
    expect(read().match(/^\s*#/gm)?.length).toBeGreaterThan(10);
    expect(await shop.run(['check'])).toMatchObject({ code: 0 });
  });

  it.each(['toolcrib.yaml', 'toolcrib.json'])('never replaces %s unless told to', async (name) => {
    open({ [name]: '{}' });
    const { code, stderr } = await shop.run(['init']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `error: ${name} is there already; --force replaces it.\n` });
    expect(readdirSync(shop.folder)).toEqual([name]);
    expect(readFileSync(join(shop.folder, name), 'utf8')).toBe('{}');
  });

  it('--force replaces it whole and leaves nothing behind', async () => {
    open({ 'toolcrib.yaml': 'old' });
    expect(await shop.run(['init', '--force'])).toMatchObject({ code: 0 });
    expect(readdirSync(shop.folder)).toEqual(['toolcrib.yaml']);
    expect(read()).toContain('defaultProfile: default');
  });

  it('--from takes over the servers of an mcp.json, comments and all', async () => {
    const servers = {
      files: { command: 'npx', args: ['-y', 'server: "files" #1'], env: { HOME: `\${HOME}` } },
      'on: #1': { url: 'https://example.com/mcp', headers: {} },
    };
    open({ 'mcp.json': `// mine\n${JSON.stringify({ mcpServers: servers })}` });
    expect(await shop.run(['init', '--from', 'mcp.json'])).toMatchObject({ code: 0 });
    const { parse } = await import('yaml');
    expect(parse(read()).mcpServers).toEqual(servers);
  });

  it('keeps a file with credentials private and names them without their values', async () => {
    open({ 'mcp.json': '{"mcpServers":{"gh":{"command":"gh-mcp","env":{"TOKEN":"hunter2hunter2"}}}}' });
    const { stdout, stderr } = await shop.run(['init', '--from', 'mcp.json']);
    expect(stderr).toContain('gh.env.TOKEN');
    expect(`${stdout}${stderr}`).not.toContain('hunter2');
    expect(statSync(join(shop.folder, 'toolcrib.yaml')).mode & 0o077).toBe(0);
  });

  it('a file that came in the meantime stays', () => {
    open({ 'toolcrib.yaml': 'theirs' });
    expect(writeWhole(join(shop.folder, 'toolcrib.yaml'), 'ours', { replace: false, isPrivate: false })).toBe(false);
    expect(readdirSync(shop.folder)).toEqual(['toolcrib.yaml']);
    expect(read()).toBe('theirs');
  });

  it.each([
    ['absent.json', 'absent.json does not exist.'],
    ['empty.json', 'empty.json holds no servers.'],
    ['broken.json', 'broken.json:1'],
  ])('%s is answered with a sentence, and nothing is written', async (from, sentence) => {
    open({ 'empty.json': '{}', 'broken.json': '{ "mcpServers": ' });
    const { code, stderr } = await shop.run(['init', '--from', from]);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
    expect(readdirSync(shop.folder).toSorted()).toEqual(['broken.json', 'empty.json']);
  });
});
