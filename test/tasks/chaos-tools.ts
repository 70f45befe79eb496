/** A kind of tool, and how a task of it may end. */
interface ChaosKind {
  readonly effects: Readonly<Record<string, boolean>>;
  /** Longest time that a run takes. */
  readonly maxMs: number;
  readonly isFailing?: boolean;
}

/** Tools of mixed kinds. Destructive ones require approval. */
export const CHAOS_KINDS: Readonly<Record<string, ChaosKind>> = {
  read: { effects: { readOnly: true }, maxMs: 20 },
  put: { effects: { destructive: false, idempotent: true }, maxMs: 20 },
  put_slowly: { effects: { destructive: false, idempotent: true }, maxMs: 500 },
  put_approved: { effects: { destructive: true, idempotent: true }, maxMs: 20 },
  put_badly: { effects: { destructive: false, idempotent: true }, maxMs: 20, isFailing: true },
  pay: { effects: { destructive: false }, maxMs: 20 },
  pay_slowly: { effects: { destructive: false }, maxMs: 500 },
  pay_approved: { effects: { destructive: true }, maxMs: 20 },
  pay_badly: { effects: { destructive: false }, maxMs: 20, isFailing: true },
};

/** The source of a module with these tools. Each run first appends the id of its call and its tool to a file. */
export function chaosModule(log: string): string {
  return `
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
export const tools = Object.entries(${JSON.stringify(CHAOS_KINDS)}).map(([name, { effects, maxMs, isFailing }]) => ({
  name,
  description: 'Note a run: ' + name,
  input: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  effects,
  execute: async ({ number }, { id }) => {
    appendFileSync(${JSON.stringify(log)}, id + ' ' + name + '\\n');
    await setTimeout(Math.random() * maxMs);
    if (isFailing) throw new Error('out of paper');
    return number;
  },
}));
`;
}

/** True if a run of this tool may be repeated. */
export function isRepeatable(tool: string): boolean {
  const { readOnly, idempotent } = CHAOS_KINDS[tool]?.effects ?? {};
  return readOnly === true || idempotent === true;
}

/** The outcome of a task of this tool whose process was not killed. */
export function usualOutcome(tool: string): string {
  return CHAOS_KINDS[tool]?.isFailing === true ? 'tool_error' : 'done';
}
