import {
  type Approval,
  type ApprovalOutcome,
  type Caller,
  type CallOptions,
  type Crib,
  type CribOptions,
  done,
  type Executor,
  type ToolCall,
  type ToolInput,
  type ToolResult,
} from '../../src/index.ts';
import { cribOf, folderWith } from '../crib/workshop.ts';

/** A crib in which paying needs a person. */
export interface Office {
  readonly crib: Crib;
  /** The arguments of payments that were made. */
  readonly paid: unknown[];
  /** Pays so much, as alice, from a door that can show a waiting call, and whose callers take it up themselves. */
  pay(amount: number, options?: CallOptions & { readonly as?: Caller }): Promise<ToolResult>;
  /** The operator's answer. */
  answer(id: string, decision: 'approve' | 'deny', note?: string): Promise<ApprovalOutcome>;
  waiting(): Promise<readonly Approval[]>;
}

interface OfficeOptions extends Omit<CribOptions, 'tools'> {
  readonly url?: string;
  /** What is other than usual about the tool. */
  readonly tool?: Partial<ToolInput>;
  /** What paying does besides being noted. */
  readonly work?: (call: ToolCall) => unknown;
}

export const OPERATOR: Caller = { id: 'olga', operator: true };

/** Runs as data, so that it is the same tool in every process. */
export const PAY: ToolInput = {
  name: 'pay',
  title: 'Pay a bill',
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  effects: { destructive: true },
  run: { kind: 'bank' },
};

/** Does what the tool is for. */
export function bank(work: (call: ToolCall) => unknown): Executor {
  return {
    kind: 'bank',
    runSchema: { type: 'object' },
    execute: async (call) => {
      await work(call);
      return done('paid');
    },
  };
}

const PAY_ALL: ToolInput = {
  name: 'pay_all',
  description: 'Pays what is open',
  run: (_: unknown, call: ToolCall) => call.tools.call('pay', { amount: 7 }),
};

export async function openOffice(options: OfficeOptions = {}): Promise<Office> {
  const { tool, work, url = 'memory:', ...rest } = options;
  const paid: unknown[] = [];
  const executor = bank(async (call) => {
    paid.push(call.input);
    await work?.(call);
  });
  const tools = [{ ...PAY, ...tool } as ToolInput, PAY_ALL]; // a tool with some of its parts replaced
  const crib = await cribOf(folderWith({}), { tools, store: { url }, executors: [executor], ...rest });
  return {
    crib,
    paid,
    pay: async (amount, { as = { id: 'alice', roles: ['dev'] }, ...options } = {}) =>
      (await crib.open(undefined, as)).call('pay', { amount }, { door: 'cli', park: true, ...options }),
    answer: (id, decision, note) =>
      crib.approvals.answer(id, { decision, ...(note !== undefined && { note }) }, OPERATOR),
    waiting: () => crib.approvals.list({ state: 'waiting' }),
  };
}

/** The id of the approval that a call waits for. */
export function idOf(result: ToolResult): string {
  if (result.status !== 'waiting') throw new Error(`it does not wait: ${JSON.stringify(result)}`);
  return result.waiting.id;
}
