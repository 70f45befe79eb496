import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { AMPLE, addTo, payment } from './approvals-contract.ts';
import { lostTasksContract } from './lost-tasks-contract.ts';
import { missingPackage, sharedPostgres } from './postgres-server.ts';
import { startProcess } from './start-process.ts';
import { startWire } from './start-wire.ts';
import { ENDED, HERE, tasksContract, transfer } from './tasks-contract.ts';

const WITHIN = { timeout: 20_000, interval: 20 };
const LISTENING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
  AND application_name = 'toolcrib' AND query LIKE 'LISTEN %'`;
/** Listens to tasks and does nothing else. */
const LISTEN = new URL('./processes/listen-to-tasks.ts', import.meta.url);
const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`tasks on ${title}`, { timeout: 30_000 }, () => {
  const server = sharedPostgres();
  const place = () => server.createStore();
  const opened = async (options: Partial<StoreOptions> = {}): Promise<Store> => {
    const store = await openStore({ url: await place(), env: {}, ...options });
    onTestFinished(() => store.close());
    return store;
  };

  tasksContract(opened, place);
  describe('of a process that is gone', () => lostTasksContract(opened, place));
  describe('notifications', () => {
    const twoProcesses = async () => {
      const url = await place();
      const [one, other] = [await opened({ url }), await opened({ url })];
      const told: string[] = [];
      onTestFinished(other.tasks.onChange((id) => told.push(id)));
      const admin = await server.connect(new URL(url).pathname.slice(1));
      onTestFinished(() => admin.end());
      const listening = async () => (await admin.query(LISTENING)).rowCount;
      await vi.waitFor(async () => expect(await listening()).toBe(1), WITHIN);
      return { one, other, told, admin, listening };
    };

    it('tell another process of new, postponed, ended and lost tasks, and of answers to approvals', async () => {
      const { one, told } = await twoProcesses();
      const heard = (id: string) => vi.waitFor(() => expect(told.splice(0)).toContain(id), WITHIN);
      await one.tasks.add(transfer('t1'), AMPLE);
      await heard('t1');
      await one.tasks.claim(HERE);
      await one.tasks.postpone('t1', { pauseMs: 0 });
      await heard('t1');
      await one.tasks.claim(HERE);
      await one.tasks.finish('t1', ENDED);
      await heard('t1');
      await one.tasks.add(transfer('with space'), AMPLE);
      await heard('with space');
      await one.tasks.cancel('with space', 'ann', ENDED.result);
      await heard('with space');
      const { approval } = await addTo(one.approvals, payment());
      await one.approvals.answer(approval.id, { decision: 'approve', by: 'bob' });
      await heard('');
      await one.tasks.add(transfer('a\0'), AMPLE);
      await heard('');
    });

    it('come again after the connection was cut, and the process looks for what it has missed', async () => {
      const { one, told, admin, listening } = await twoProcesses();
      const cut = `SELECT pg_terminate_backend(pid, 5000) FROM (${LISTENING}) AS found`;
      expect((await admin.query(cut)).rowCount).toBe(1);
      await vi.waitFor(() => expect(told).toContain(''), WITHIN);
      expect(await listening()).toBe(1);
      await one.tasks.add(transfer('t1'), AMPLE);
      await vi.waitFor(() => expect(told).toContain('t1'), WITHIN);
    });

    it('survive a database that is away for a while', async () => {
      const url = new URL(await place());
      const near = await opened({ url: url.href });
      const wire = await startWire(server.port);
      onTestFinished(() => wire.close());
      url.port = String(wire.port);
      const far = await opened({ url: url.href });
      const told: string[] = [];
      onTestFinished(far.tasks.onChange((id) => told.push(id)));
      for (let count = 0; count < 3; count++) {
        wire.cut();
        told.length = 0;
        const add = async () => {
          await near.tasks.add(transfer(`${count} ${performance.now()}`), AMPLE);
          expect(told.some((id) => id.startsWith(`${count} `))).toBe(true);
        };
        await vi.waitFor(add, WITHIN);
      }
    });

    it('reach a process once, at once, for its own changes', async () => {
      const { other, told, one } = await twoProcesses();
      await other.tasks.add(transfer('own'), AMPLE);
      expect(told).toEqual(['own']);
      await one.tasks.add(transfer('last'), AMPLE);
      await vi.waitFor(() => expect(told).toContain('last'), WITHIN);
      expect(told).toEqual(['own', 'last']);
    });

    it('end with the last listener, and keep no process alive', async () => {
      const url = await place();
      const admin = await server.connect(new URL(url).pathname.slice(1));
      onTestFinished(() => admin.end());
      const store = await opened({ url });
      const stops = [store.tasks.onChange(() => undefined), store.tasks.onChange(() => undefined)];
      const listening = async () => (await admin.query(LISTENING)).rowCount;
      await vi.waitFor(async () => expect(await listening()).toBe(1), WITHIN);
      for (const stop of [...stops, ...stops]) stop();
      await vi.waitFor(async () => expect(await listening()).toBe(0), WITHIN);
      for (const how of ['leave', 'close', 'close', 'close']) {
        const { ended, lines } = startProcess(LISTEN, [url, how]);
        expect(await ended).toBe(0);
        expect(lines).toEqual(['ended']);
      }
    });
  });
});
