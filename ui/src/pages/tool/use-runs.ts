import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { type CallAnswer, failure } from '../../result/call-answer.ts';
import { readAnswerAside } from '../../result/parse-aside.ts';
import type { CallRequest } from './call-request.ts';
import { type Progress, runCall } from './run-call.ts';

/** One run of a tool from this page. Runs are kept while the page is open, so that they can be compared. */
export interface Run {
  readonly number: number;
  readonly request: CallRequest;
  readonly startedAt: number;
  readonly callId?: string;
  readonly progress?: Progress;
  readonly state: 'running' | 'ended';
  readonly answer?: CallAnswer;
  /** The answer that a waiting call ended with. */
  readonly later?: CallAnswer;
}

export interface Runs {
  readonly runs: readonly Run[];
  readonly shown: Run | undefined;
  start(request: CallRequest): void;
  cancel(run: Run): void;
  show(number: number | undefined): void;
  /** Sets the answer of a call that waited. */
  settle(number: number, answer: CallAnswer): void;
}

const MAX_RUNS = 20;

/** Runs a tool and keeps the answers. Leaving the page cancels what runs. */
export function useRuns(): Runs {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const [shown, setShown] = useState<number>();
  const queries = useQueryClient();
  const controllers = useRef(new Map<number, AbortController>());
  const count = useRef(0);
  useEffect(() => {
    const { current } = controllers;
    return () => {
      for (const controller of current.values()) controller.abort();
    };
  }, []);
  const change = (number: number, change: Partial<Run>) =>
    setRuns((before) => before.map((run) => (run.number === number ? { ...run, ...change } : run)));

  async function start(request: CallRequest) {
    const number = ++count.current;
    const controller = new AbortController();
    controllers.current.set(number, controller);
    const run: Run = { number, request, startedAt: Date.now(), state: 'running' };
    setRuns((before) => [run, ...before].slice(0, MAX_RUNS));
    setShown(number);
    const news = {
      onStarted: (callId: string) => change(number, { callId }),
      onProgress: (progress: Progress) => change(number, { progress }),
    };
    const answer = await runCall(request, news, controller.signal).then(readAnswerAside, (error: unknown) =>
      controller.signal.aborted ? CANCELLED : lost(error),
    );
    controllers.current.delete(number);
    change(number, { answer, state: 'ended', ...(answer.callId === undefined ? {} : { callId: answer.callId }) });
    if (request.mode !== 'dry run') void queries.invalidateQueries({ queryKey: ['tool-activity', request.tool] });
  }

  return {
    runs,
    shown: runs.find(({ number }) => number === shown),
    start: (request) => void start(request),
    show: setShown,
    settle: (number, later) => change(number, { later }),
    cancel({ number, callId }) {
      // Both ways end the call: the request says so to the server, the closed connection to whatever is between.
      if (callId !== undefined) void api(`/api/calls/${callId}/cancel`, { method: 'POST' }).catch(() => undefined);
      controllers.current.get(number)?.abort();
    },
  };
}

const CANCELLED = failure('cancelled', 'You cancelled the call. What the tool did before stays done.');

function lost(error: unknown): CallAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  return failure('unknown_outcome', `The connection was lost: ${reason}. Look under Calls before you send it again.`);
}
