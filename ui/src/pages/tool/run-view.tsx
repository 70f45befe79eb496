import { useMutation } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, OWN_HEADER } from '../../api/client.ts';
import { ApprovalCard } from '../../parts/approval-card.tsx';
import { toDuration, useNow } from '../../parts/relative-time.tsx';
import { Status, type Tone } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import type { AnswerError, CallAnswer } from '../../result/call-answer.ts';
import { readAnswerAside } from '../../result/parse-aside.ts';
import { CopyButton, ResultParts, toSize } from '../../result/result-view.tsx';
import { DryRunView } from './dry-run-view.tsx';
import classes from './run.module.css';
import type { Progress } from './run-call.ts';
import toolClasses from './tool.module.css';
import type { Run, Runs } from './use-runs.ts';
import { useWaiting } from './use-waiting.ts';

interface RunViewProps {
  readonly run: Run;
  readonly runs: Runs;
}

/** One run: how far it is, what it waits for, and what it answered. */
export function RunView({ run, runs }: RunViewProps) {
  const { answer, later } = run;
  const waiting = useWaiting(later === undefined ? answer : undefined, (end) => runs.settle(run.number, end));
  const shown = later ?? answer;
  return (
    <div className={classes.result} aria-live="polite">
      <RunLine run={run} answer={shown} />
      {run.state === 'running' && <Running run={run} />}
      {shown?.status === 'waiting' && <Waiting answer={shown} state={waiting.state} />}
      {shown?.status === 'dryRun' && <DryRunView body={shown.body.text} />}
      {shown?.error !== undefined && <Failure error={shown.error} />}
      {shown !== undefined &&
        shown.status !== 'waiting' &&
        shown.status !== 'dryRun' &&
        (shown.ok || shown.parts.length > 0) && <Shown answer={shown} />}
    </div>
  );
}

/** The result; where the server kept the rest of it, all of it can be loaded. */
function Shown({ answer }: { readonly answer: CallAnswer }) {
  const { kept } = answer;
  const load = useMutation({
    mutationFn: async (id: string) => {
      const response = await fetch(`/api/results/${id}`, { headers: OWN_HEADER });
      return readAnswerAside(await response.text());
    },
  });
  if (kept === undefined) return <ResultParts parts={answer.parts} />;
  return (
    <>
      <p className={classes.runLine}>
        <span className="soft">The result has {toSize(kept.bytes)}; the answer contains its beginning.</span>
        {kept.id !== undefined && load.data === undefined && (
          <button
            type="button"
            className={toolClasses.inline}
            disabled={load.isPending}
            onClick={() => load.mutate(kept.id ?? '')}
          >
            {load.isPending ? 'Loading …' : 'Load all of it'}
          </button>
        )}
      </p>
      {load.data?.error !== undefined && <Failure error={load.data.error} />}
      <ResultParts
        parts={
          load.data?.ok === false && load.data.error !== undefined ? answer.parts : (load.data?.parts ?? answer.parts)
        }
      />
    </>
  );
}

function toneOf(answer: CallAnswer | undefined): readonly [Tone, string] {
  if (answer === undefined) return ['active', 'Running'];
  if (answer.status === 'dryRun') return ['quiet', 'Dry run'];
  if (answer.status === 'waiting')
    return ['warn', answer.waiting?.for === 'approval' ? 'Waits for approval' : 'In the background'];
  return answer.ok ? ['good', 'Done'] : ['danger', answer.error?.code === 'cancelled' ? 'Cancelled' : 'Failed'];
}

function RunLine({ run, answer }: { readonly run: Run; readonly answer: CallAnswer | undefined }) {
  const [tone, word] = toneOf(answer);
  return (
    <div className={classes.runLine}>
      <Status tone={tone}>{word}</Status>
      {answer?.durationMs !== undefined && <span className="tabular soft">{toDuration(answer.durationMs)}</span>}
      {answer !== undefined && answer.body.bytes > 0 && (
        <span className="tabular faint">{toSize(answer.body.bytes)}</span>
      )}
      {run.request.profile !== undefined && <span className="faint">profile {run.request.profile}</span>}
      {answer?.isRecovered === true && <span className="faint">a failure was replaced by this result</span>}
      <span className={toolClasses.grow} />
      {run.callId !== undefined && run.request.mode !== 'dry run' && (
        <Link href={`/calls/${run.callId}`} className={toolClasses.inline}>
          Show the call
        </Link>
      )}
      {answer !== undefined && answer.body.file === undefined && (
        <CopyButton text={answer.body.text} label="Copy answer" />
      )}
    </div>
  );
}

function Running({ run }: { readonly run: Run }) {
  const now = useNow();
  const { progress } = run;
  const share = shareOf(progress);
  return (
    <div className={classes.running}>
      <progress
        className={classes.progress}
        aria-label="Progress"
        {...(share === undefined ? {} : { value: share, max: 1 })}
      />
      <span className="tabular soft">
        {share === undefined ? '' : `${Math.round(share * 100)} % · `}
        {toDuration(Math.max(0, now - run.startedAt))}
      </span>
      {progress?.message !== undefined && <VisibleText text={progress.message} limit={300} />}
    </div>
  );
}

function shareOf(progress: Progress | undefined): number | undefined {
  const { progress: done, total } = progress ?? {};
  if (done === undefined) return undefined;
  const share = total === undefined ? done : done / total;
  return share >= 0 && share <= 1 ? share : undefined;
}

function Waiting({ answer, state }: { readonly answer: CallAnswer; readonly state: string | undefined }) {
  const { waiting } = answer;
  if (waiting === undefined) return null;
  if (waiting.for === 'approval')
    return (
      <div className={classes.card}>
        <ApprovalCard id={waiting.id} />
      </div>
    );
  const cancel = () => void api(`/api/tasks/${waiting.id}`, { method: 'DELETE' }).catch(() => undefined);
  return (
    <div className={classes.running}>
      <span>
        The task is {state ?? 'queued'}. Its result will stand here; you may leave this page, and find it under{' '}
        <Link href={`/calls/${waiting.id}`}>Calls</Link>.
      </span>
      <button type="button" className="button" onClick={cancel}>
        Cancel the task
      </button>
    </div>
  );
}

function Failure({ error }: { readonly error: AnswerError }) {
  return (
    <div className={classes.failure} role="alert">
      <p>
        <span className="name">{error.code}</span> <VisibleText text={error.message} lines="many lines" limit={4000} />
      </p>
      {error.issues.length > 0 && (
        <ul>
          {error.issues.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <a className="name" href={`#argument${path}`} onClick={(event) => focusField(event, path)}>
                <VisibleText text={path === '' ? 'arguments' : path} limit={120} />
              </a>{' '}
              <VisibleText text={message} />
            </li>
          ))}
        </ul>
      )}
      {error.retryAfterMs !== undefined && <p className="soft">Try again in {toDuration(error.retryAfterMs)}.</p>}
    </div>
  );
}

function focusField(event: { preventDefault(): void }, path: string): void {
  event.preventDefault();
  document.getElementById(`argument${path}`)?.focus();
}
