import { useState } from 'react';
import { CompareView } from './compare-view.tsx';
import { LastCalls } from './last-calls.tsx';
import classes from './run.module.css';
import { RunView } from './run-view.tsx';
import toolClasses from './tool.module.css';
import type { ToolDetail } from './tool-types.ts';
import type { Run, Runs } from './use-runs.ts';

interface ResultsProps {
  readonly tool: ToolDetail;
  readonly runs: Runs;
  onTake(text: string): void;
  onProfile(profile: string | undefined): void;
}

/** The runs of this page, of which one is shown or compared with another; before the first, the calls of all callers. */
export function Results({ tool, runs, onTake, onProfile }: ResultsProps) {
  const { shown } = runs;
  // A comparison is of two runs: showing another one ends it.
  const [compared, setCompared] = useState<{ readonly shown: number; readonly other: number | undefined }>();
  const other = runs.runs.find(({ number }) => compared?.shown === shown?.number && number === compared?.other);
  if (runs.runs.length === 0)
    return (
      <>
        <div className={classes.paneHead}>Last calls</div>
        <LastCalls tool={tool.name} />
      </>
    );
  return (
    <>
      <div className={classes.paneHead}>
        <fieldset className={classes.runs} aria-label="Runs">
          {runs.runs.map(({ number, request }) => (
            <RunButton key={number} isShown={number === shown?.number} onShow={() => runs.show(number)}>
              {`${request.mode === 'dry run' ? 'Dry run' : 'Run'} ${number}`}
            </RunButton>
          ))}
          <RunButton isShown={shown === undefined} onShow={() => runs.show(undefined)}>
            Last calls
          </RunButton>
        </fieldset>
        <span className={toolClasses.grow} />
        {shown !== undefined && runs.runs.length > 1 && (
          <CompareChoice
            runs={runs.runs}
            shown={shown}
            other={other}
            onCompare={(number) => setCompared({ shown: shown.number, other: number })}
          />
        )}
        {shown !== undefined && (
          <button
            type="button"
            className={toolClasses.inline}
            onClick={() => {
              onTake(shown.request.argumentsText);
              onProfile(shown.request.profile);
            }}
          >
            Edit and send again
          </button>
        )}
      </div>
      {shown === undefined && <LastCalls tool={tool.name} />}
      {shown !== undefined && other === undefined && <RunView key={shown.number} run={shown} runs={runs} />}
      {shown !== undefined && other !== undefined && <CompareView before={other} after={shown} />}
    </>
  );
}

interface RunButtonProps {
  readonly isShown: boolean;
  readonly children: string;
  onShow(): void;
}

function RunButton({ isShown, children, onShow }: RunButtonProps) {
  return (
    <button type="button" className={classes.run} aria-pressed={isShown} onClick={onShow}>
      {children}
    </button>
  );
}

interface CompareChoiceProps {
  readonly runs: readonly Run[];
  readonly shown: Run;
  readonly other: Run | undefined;
  onCompare(number: number | undefined): void;
}

function CompareChoice({ runs, shown, other, onCompare }: CompareChoiceProps) {
  return (
    <select
      className={toolClasses.select}
      aria-label="Compare with"
      value={other?.number ?? ''}
      onChange={({ target }) => onCompare(target.value === '' ? undefined : Number(target.value))}
    >
      <option value="">Compare with …</option>
      {runs
        .filter(({ number }) => number !== shown.number)
        .map(({ number, request }) => (
          <option key={number} value={number}>
            Run {number}
            {request.profile === undefined ? '' : ` · ${request.profile}`}
          </option>
        ))}
    </select>
  );
}
