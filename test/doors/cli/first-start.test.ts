import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'vitest';
import { serverOf } from '../../kinds/mcp/upstream.ts';
import { createWorkshop } from './workshop.ts';

/** A busy machine is not a failing test. */
const PATIENCE = { timeout: 60_000 };

/** A folder with a server that is ready and one that is being installed until it is let. */
function workshop({ onTestFinished }: TestContext) {
  const shop = createWorkshop();
  onTestFinished(shop.remove);
  const sources = {
    ready: { mcp: serverOf('rough.ts') },
    slow: { mcp: serverOf('installing.ts', ['prints', join(shop.folder, 'go')]) },
  };
  shop.write('toolcrib.yaml', JSON.stringify({ sources })); // JSON is YAML
  return {
    ...shop,
    finishInstalling: () => shop.write('go', ''),
    /** Starts a command and hears what it says. */
    begin(...args: readonly string[]) {
      const child = shop.start(args);
      child.stdin.end();
      const said = { out: '', err: '' };
      child.stdout.on('data', (chunk) => {
        said.out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        said.err += chunk;
      });
      return { child, said, ended: once(child, 'close') };
    },
  };
}

// At once, since each of them waits for the ten seconds that a command does.
describe.concurrent('while a server is being installed', () => {
  it('"list" prints the tools of the other sources, names the starting one, and ends once it is installed', async (test) => {
    const { expect } = test;
    const { begin, finishInstalling, run } = workshop(test);
    const { child, said, ended } = begin('list');
    await expect.poll(() => said.out, PATIENCE).toContain('ready_work');
    await expect
      .poll(() => said.err, PATIENCE)
      .toMatch(/Waiting for an installation to finish \(Ctrl-C to stop\): slow \(/);
    expect(said.err).toMatch(
      /^Still starting, tools not available yet: slow \(its last output: fetching \d+ \| fetching \d+ \| fetching \d+\)\.$/m,
    );
    expect(said.out).not.toContain('slow_work');
    expect(child.exitCode).toBeNull();
    finishInstalling();
    await ended;
    expect(child.exitCode).toBe(0);
    const again = await run(['list']); // the list was kept
    expect(again.stdout).toContain('slow_work');
    expect(again.stderr).toBe('');
  });

  it('"search" without results says that a source is still starting', async (test) => {
    const { expect } = test;
    const { begin, finishInstalling } = workshop(test);
    const { child, said, ended } = begin('search', 'qqqq');
    await expect
      .poll(() => said.err, PATIENCE)
      .toMatch(/^No matching tool found yet\. Search again when these sources have started: slow \(/m);
    finishInstalling();
    await ended;
    expect([child.exitCode, said.out]).toEqual([0, '']);
  });

  it('"sources" shows it as starting, with its last lines of output', async (test) => {
    const { expect } = test;
    const { begin, finishInstalling } = workshop(test);
    const { child, said, ended } = begin('sources', '--json');
    await expect.poll(() => said.out, PATIENCE).toContain('tokensExact');
    expect(JSON.parse(said.out).sources).toMatchObject([
      { name: 'ready', state: 'ready' },
      { name: 'slow', state: 'starting', reason: expect.stringMatching(/^its last output: fetching \d+/) },
    ]);
    finishInstalling();
    await ended;
    expect(child.exitCode).toBe(0);
  });

  it('"call" of one of its tools waits for it, and says so', async (test) => {
    const { expect } = test;
    const { begin, finishInstalling } = workshop(test);
    const { child, said, ended } = begin('call', 'slow_work');
    await expect
      .poll(() => said.err, PATIENCE)
      .toMatch(
        /The tool "slow_work" is not available yet\. Waiting for slow \(its last output: fetching .*\) \(Ctrl-C to stop\)\./,
      );
    finishInstalling();
    await ended;
    expect(said.out).toBe('work done\n');
    expect(child.exitCode).toBe(0);
  });

  it('Ctrl-C ends the wait and the server', async (test) => {
    const { expect } = test;
    const { child, said, ended } = workshop(test).begin('call', 'slow_work');
    await expect.poll(() => said.err, PATIENCE).toContain('Waiting for slow');
    child.kill('SIGINT');
    await ended;
    expect(child.exitCode).toBe(130);
  });

  it('"check" waits for all servers', async (test) => {
    const { expect } = test;
    const { begin, finishInstalling } = workshop(test);
    const { said, ended } = begin('check', '--json');
    await expect.poll(() => said.err, PATIENCE).toContain('Still starting');
    expect(said.out).toBe('');
    finishInstalling();
    await ended;
    expect(JSON.parse(said.out).sources).toMatchObject([
      { name: 'ready', state: 'ready' },
      { name: 'slow', state: 'ready' },
    ]);
  });
});
