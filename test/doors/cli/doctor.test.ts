import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop, type Workshop } from './workshop.ts';

const made: Workshop[] = [];
const workshop = (files: Readonly<Record<string, string>>) => {
  const created = createWorkshop(files);
  made.push(created);
  return created;
};
afterAll(() => {
  for (const created of made) created.remove();
});

/** A port of this machine that is taken until the function that is returned with it is called. */
async function takenPort(): Promise<{ readonly port: number; readonly free: () => void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, free: () => void server.close() };
}

describe('toolcrib doctor', () => {
  it('examines store, machine, sources and port, and exits with 0 if there are no problems', async () => {
    const config = `${OFFICE['toolcrib.yaml']}\nserver: { port: 0 }\n`;
    const crib = workshop({ ...OFFICE, 'toolcrib.yaml': config });
    const { code, stdout, stderr } = await crib.run(['doctor']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'No problems found.\n' });
    expect(stdout).toMatch(/^ok +store +sqlite, /m);
    expect(stdout).toMatch(/^ok +versions +Toolcrib \S+, Node \S+, /m);
    expect(stdout).toMatch(/^ok +sources +2 sources\.$/m);
    expect(stdout).toMatch(/^ok +port +The server takes any free port of 127\.0\.0\.1\.$/m);
  });

  it('exits with 1 for a source that failed, and says what to do', async () => {
    const config = 'sources:\n  gone: { modules: ./absent }\nserver: { port: 0 }\n';
    const { code, stdout, stderr } = await workshop({ 'toolcrib.yaml': config }).run(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^problem +sources +gone has failed: .*absent.*\n +Correct their entries/m);
    expect(stderr).toBe('1 problem found.\n');
  });

  it('examines the machine even if the configuration cannot be used, and exits with 2', async () => {
    const crib = workshop({ 'toolcrib.yaml': 'profils: {}\n' });
    const { code, stdout } = await crib.run(['doctor']);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^problem +configuration +.*profils.*Did you mean "profiles"\?/m);
    expect(stdout).toMatch(/^ok +versions /m);
    const { ok, checks } = JSON.parse((await crib.run(['doctor', '--json'])).stdout);
    expect({ ok, names: checks.map(({ name }: { name: string }) => name) }).toEqual({
      ok: false,
      names: ['configuration', 'versions', 'clock', 'sandbox', 'python'],
    });
  });

  it('tells a port that another program uses from one of its own server', async () => {
    const { port, free } = await takenPort();
    const crib = workshop({ ...OFFICE, 'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}\nserver: { port: ${port} }\n` });
    expect((await crib.run(['doctor'])).stdout).toMatch(
      new RegExp(`^warning +port +Another program listens on port ${port} of 127.0.0.1.\\n +Set server.port`, 'm'),
    );
    free();
    const server = crib.start(['serve', '--port', '0']);
    try {
      const [line] = await once(createInterface(server.stderr), 'line');
      const [url = ''] = /http:\S+/.exec(line) ?? [];
      expect((await crib.run(['doctor'])).stdout).toContain(`A server of this configuration listens on ${url}.`);
    } finally {
      server.kill();
      await once(server, 'close');
    }
  });
});

describe('toolcrib config', () => {
  it('prints each value with its place, and hides secrets', async () => {
    const config = `sources:
  web: { mcp: { url: "https://example.com/mcp", headers: { Authorization: "Bearer swordfish" } } }
profiles:
  reader: { include: ["tag:read"] }
`;
    const crib = workshop({ 'toolcrib.yaml': config });
    const { code, stdout, stderr } = await crib.run(['config']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\/sources\/web\/mcp\/url +toolcrib\.yaml:2 +https:\/\/example\.com\/mcp$/m);
    expect(stdout).toMatch(/^\/profiles\/reader\/include +toolcrib\.yaml:4 +\["tag:read"\]$/m);
    expect(stdout).not.toContain('swordfish');
    expect(await crib.json(['config'])).toMatchObject({ files: [expect.stringMatching(/toolcrib\.yaml$/)] });
  });

  it('says so if nothing is configured', async () => {
    const { code, stderr } = await workshop({ 'toolcrib.yaml': '{}\n' }).run(['config']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Nothing is configured: every default applies.\n' });
  });
});
