import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Crib, createCrib, type ToolInput } from '../../src/index.ts';
import { type ConsoleServer, serveCrib } from './browser.ts';

/** Looks until an expectation holds; the time is generous, because a busy machine is not a failing test. */
export const soon = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 });

/** Text that would do harm if it were markup, or mislead a reader. */
export const HOSTILE = {
  markup: '<script>alert(1)</script><img src=x onerror="alert(2)">',
  bidi: 'invoice\u202Efdp.exe\u202C',
  control: 'a\u0000b\u001b[31mred\u0007',
  lookalike: 'p\u0430ypal.com', // a Cyrillic letter in a Latin word
};

const CONFIG = `
defaultProfile: desk
server: { traceUrl: "https://traces.test/{traceId}" }
profiles:
  desk: { include: ["*"] }
extensions:
  approval: { timeoutMs: 86400000 }
access:
  keys: true
  roles:
    support: { profiles: ["*"] }
    boss: { profiles: ["*"] }
`;

/** Calls of the tool "hold" end when the test lets them. */
export interface Desk extends ConsoleServer {
  /** Ends all calls of "hold". */
  letGo(): void;
  /** Calls a tool as a caller; one that needs approval is parked. */
  call(tool: string, input?: object, options?: DeskCall): Promise<string>;
}

interface DeskCall {
  readonly caller?: string;
  readonly conversation?: string;
  readonly turn?: string;
  readonly traceparent?: string;
}

/** A crib of a few tools that wait, fail, nest and ask, behind a server, for all tests of a file. */
export function useDesk(): () => Desk {
  let desk: Desk | undefined;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const holding = new Set<() => void>();
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-desk-'));
    writeFileSync(join(folder, 'toolcrib.yaml'), CONFIG);
    const crib = await createCrib({
      configFile: folder,
      tools: toolsWith(holding),
      watch: false,
      store: { url: 'memory:' },
    });
    const stopParked = crib.runParked();
    const server = await serveCrib(crib, folder);
    close = async () => {
      for (const go of holding) go();
      await server.stop();
      stopParked();
      await crib.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    };
    desk = {
      ...server,
      call: callThrough(crib),
      letGo: () => {
        for (const go of holding) go();
        holding.clear();
      },
    };
  });
  afterAll(() => close());
  return () => {
    if (desk === undefined) throw new Error('The server has not started.');
    return desk;
  };
}

/** Returns the id of the approval that the call waits for, or that of the call. */
function callThrough(crib: Crib): Desk['call'] {
  return async (tool, input = {}, { caller = 'alice', ...said } = {}) => {
    const chest = await crib.open('desk', { id: caller, roles: ['support'] });
    const result = await chest.call(tool, input, { park: true, door: 'rest', ...said });
    return result.status === 'waiting' ? result.waiting.id : result.status;
  };
}

const object = { type: 'object' } as const;

function toolsWith(holding: Set<() => void>): readonly ToolInput[] {
  return [
    {
      name: 'wipe',
      title: `Wipe ${HOSTILE.bidi}`,
      description: `Deletes for good. ${HOSTILE.markup} ${HOSTILE.control}`,
      input: object,
      effects: { destructive: true },
      run: () => `${HOSTILE.markup} ${HOSTILE.bidi} ${HOSTILE.control}`,
    },
    { name: 'pay', description: 'Pays money', input: object, effects: { destructive: true }, run: () => 'paid' },
    { name: 'look', description: 'Looks', input: object, effects: { readOnly: true }, run: () => 'seen' },
    {
      name: 'fail',
      description: 'Fails',
      input: object,
      effects: { destructive: true },
      run: () => {
        throw new Error(`${HOSTILE.markup} ${HOSTILE.bidi}`);
      },
    },
    {
      name: 'hold',
      description: 'Ends when it may',
      input: object,
      effects: { readOnly: true },
      run: (_input, { signal }) =>
        new Promise((resolve) => {
          holding.add(() => resolve('held'));
          signal.addEventListener('abort', () => resolve('cancelled'));
        }),
    },
    {
      name: 'script',
      description: 'Calls many tools, with a pause',
      input: object,
      effects: { readOnly: true },
      run: async (input, call) => {
        const { count = 3, pauseMs = 0 } = input as { readonly count?: number; readonly pauseMs?: number };
        await Promise.all(Array.from({ length: count - 1 }, (_, number) => call.tools.call('look', { number })));
        await new Promise((resolve) => setTimeout(resolve, pauseMs)); // the idle stretch of the waterfall
        await call.tools.call('look', {});
        return 'all seen';
      },
    },
    {
      name: 'outer',
      description: 'Calls a tool that holds',
      input: object,
      effects: { readOnly: true },
      run: async (_input, call) => {
        await call.tools.call('hold', {});
        return 'let go';
      },
    },
    {
      name: 'cleanup',
      description: 'Calls tools that wait together',
      input: object,
      effects: { readOnly: true },
      run: async (input, call) => {
        const { batch = 'batch' } = input as { readonly batch?: string };
        const what = ['first', 'second', 'third'];
        await Promise.all(what.map((one) => call.tools.call('wipe', { what: one }, { batch, park: true })));
        return 'asked';
      },
    },
  ] as readonly ToolInput[]; // the inputs are of any shape
}
