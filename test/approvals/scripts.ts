import { onTestFinished } from 'vitest';
import type { StoredApprovals } from '../../src/core/ports/stored-approvals.ts';
import type { Caller, Crib, ToolCall, ToolInput, ToolResult } from '../../src/index.ts';
import { openOffice, PAY } from './payments.ts';

/** A call that a job makes. */
export interface InnerCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What a job answers: the result of each of its calls. */
type Ended = readonly ToolResult[];

let jobs = 0;

/** A tool that makes calls at once in a batch, as a script does, and gives the results to the test. */
export function jobTool(ended: Map<string, Ended>): ToolInput {
  return {
    name: 'job',
    description: 'Makes calls',
    input: { type: 'object', properties: { batch: { type: 'string' }, calls: { type: 'array' } } },
    run: async ({ batch, calls }: { batch: string; calls: readonly InnerCall[] }, call: ToolCall) => {
      const options = { park: true, batch };
      ended.set(batch, await Promise.all(calls.map(({ tool, input }) => call.tools.call(tool, input, options))));
      return 'made';
    },
  } as ToolInput; // its input is as its schema says
}

const MAIL: ToolInput = { ...PAY, name: 'mail', title: 'Send a mail', policy: { approvers: ['caller', 'role:boss'] } };

/** An office with a job, whose calls wait together. */
export async function openJobs(options: Parameters<typeof openOffice>[0] = {}) {
  const ended = new Map<string, Ended>();
  const more = [MAIL, jobTool(ended)];
  const office = await openOffice(options);
  for (const tool of more) office.crib.register(tool);
  const stored = storedIn(office.crib);
  /** Makes the calls as alice, and returns the batch and the ids of the requests, in the order of the calls. */
  const begin = async (calls: readonly InnerCall[], as: Caller = { id: 'alice', roles: ['dev'] }) => {
    const batch = `0199a000-0000-7000-8000-${String(++jobs).padStart(12, '0')}.1`;
    const chest = await office.crib.open(undefined, as);
    await chest.call('job', { batch, calls }, { door: 'rest' });
    const results = ended.get(batch) ?? [];
    const ids = results.map((result) => (result.status === 'waiting' ? result.waiting.id : ''));
    return { batch, results, ids };
  };
  const sealed = async (calls: readonly InnerCall[], as?: Caller) => {
    const begun = await begin(calls, as);
    await stored.sealBatch(begun.batch);
    return begun;
  };
  onTestFinished(() => ended.clear());
  return { ...office, stored, begin, sealed };
}

/** The requests in the store of a crib. */
export function storedIn({ store }: Crib): StoredApprovals {
  if (store === undefined) throw new Error('no store');
  return store.approvals;
}

export const pay = (amount: number, more: object = {}): InnerCall => ({ tool: 'pay', input: { amount, ...more } });
export const mail = (amount: number): InnerCall => ({ tool: 'mail', input: { amount } });
