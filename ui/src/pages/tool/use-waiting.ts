import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { askForSignIn, OWN_HEADER } from '../../api/client.ts';
import type { CallAnswer } from '../../result/call-answer.ts';
import { readAnswerAside } from '../../result/parse-aside.ts';

const POLL_MS = 1000;

/** Waits for the end of a call that waits for an approval or runs in the background. */
export function useWaiting(
  answer: CallAnswer | undefined,
  onEnd: (answer: CallAnswer) => void,
): { readonly state: string | undefined } {
  const waiting = answer?.status === 'waiting' ? answer.waiting : undefined;
  const path = waiting?.for === 'task' ? `/api/tasks/${waiting.id}` : `/api/calls/${answer?.callId}`;
  const { data } = useQuery<CallState>({
    queryKey: ['waiting-call', path],
    enabled: waiting !== undefined,
    refetchInterval: ({ state }) => (state.data?.result === undefined ? POLL_MS : false),
    staleTime: 0,
    queryFn: ({ signal }) => readCall(path, signal),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, when the result is there
  useEffect(() => {
    if (data?.result !== undefined) onEnd(data.result);
  }, [data?.result]);
  return { state: data?.state };
}

interface CallState {
  readonly state: string;
  readonly result?: CallAnswer;
}

interface FoundCall {
  readonly state?: string;
  readonly result?: object;
  readonly call?: { readonly durationMs?: number };
}

/** Reads a call or task. The duration of a call is in its row of the audit log. */
async function readCall(path: string, signal: AbortSignal): Promise<CallState> {
  const read = () => fetch(path, { headers: OWN_HEADER, signal });
  let response = await read();
  if (response.status === 401 && (await askForSignIn())) response = await read();
  const text = await response.text();
  if (!response.ok) return { state: 'unknown' };
  const found = JSON.parse(text) as FoundCall & { readonly task?: FoundCall }; // one of both shapes
  const { state = 'unknown', result, call } = found.task ?? found;
  if (result === undefined) return { state };
  const status = 'ok' in result && result.ok === true ? 'done' : 'failed';
  return { state, result: await readAnswerAside(JSON.stringify({ status, durationMs: call?.durationMs, ...result })) };
}
