import type { Progress } from '../../core/tool-call.ts';

/** What `notifications/progress` says besides the token. */
export interface ProgressNote {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A tool that reports without end must not fill the memory of whoever reads slowly. */
const MOST_NOTES = 10_000;
const LONGEST_MESSAGE = 2000;

/** Tells a client how far a call has come, in the protocol's words: a number that always grows. */
export function createProgress(send: (note: ProgressNote) => void): (progress: Progress) => void {
  let last: number | undefined;
  let count = 0;
  return (progress) => {
    count++;
    if (count > MOST_NOTES) return;
    const note = toNote(progress);
    const { progress: given, ...rest } = note;
    const isNews = given !== undefined && (last === undefined || given > last);
    if (!isNews && rest.message === undefined) return; // said before
    last = isNews ? given : (last ?? 0) + 1;
    send({ ...rest, progress: last });
  };
}

function toNote(progress: Progress): Partial<ProgressNote> {
  if (typeof progress === 'number') return { progress };
  if (typeof progress === 'string') return { message: cut(progress) };
  const { progress: given, total, message } = membersOf(progress);
  if (typeof given !== 'number') return { message: cut(JSON.stringify(progress)) };
  return {
    progress: given,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: cut(message) }),
  };
}

function membersOf(progress: Progress): { readonly [key: string]: unknown } {
  return typeof progress === 'object' && progress !== null && !Array.isArray(progress) ? { ...progress } : {};
}

function cut(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}
