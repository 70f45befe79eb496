import { Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { IS_REQUIRED, type Issue } from '../../form/issue.ts';
import { SchemaForm } from '../../form/schema-form.tsx';
import { useArguments } from '../../form/use-arguments.ts';
import { useHints } from '../../form/use-hints.ts';
import { loadLater } from '../../parts/load-later.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import { Results } from './results.tsx';
import classes from './run.module.css';
import { CopyMenu, RunBar } from './run-bar.tsx';
import toolClasses from './tool.module.css';
import type { ToolDetail } from './tool-types.ts';
import { type Run, useRuns } from './use-runs.ts';

const JsonEditor = loadLater(async () => (await import('../../form/json-editor.tsx')).JsonEditor);

interface RunTabProps {
  readonly tool: ToolDetail;
  readonly initial: string;
  /** Why the tool cannot be run now; undefined if it can. */
  readonly obstacle: string | undefined;
}

/** The form and the JSON of the arguments side by side, and below them what the runs answered. */
export function RunTab({ tool, initial, obstacle }: RunTabProps) {
  const given = useArguments(initial);
  const hints = useHints(tool.inputSchema, given.text);
  const [profile, setProfile] = useState<string>();
  const blocked = obstacle ?? given.blocked;
  const runs = useRuns();
  const issues = useMemo(() => withServerIssues(hints, runs.shown, given.text), [hints, runs.shown, given.text]);
  const start = (mode: 'run' | 'dry run' | 'background') => {
    if (blocked === undefined) runs.start({ tool: tool.name, argumentsText: given.text, profile, mode });
  };
  useRunKey(() => start('run'));
  return (
    <div className={classes.split}>
      <section className={classes.left} aria-label="Arguments as a form">
        <div className={classes.scroll}>
          {'node' in given.parsed ? (
            <SchemaForm schema={tool.inputSchema} argumentsText={given} node={given.parsed.node} issues={issues} />
          ) : (
            <p className={toolClasses.warning} role="alert">
              The JSON on the right does not parse, so the form cannot show it. It is kept as it is: mend it there.
            </p>
          )}
          <Examples tool={tool} onTake={given.replace} />
        </div>
        <RunBar
          blocked={blocked}
          profile={profile}
          onProfile={setProfile}
          onRun={start}
          running={runs.shown?.state === 'running' ? runs.shown : undefined}
          onCancel={runs.cancel}
        />
      </section>
      <section className={classes.right} aria-label="Arguments as JSON, and results">
        <div className={classes.paneHead}>
          Arguments
          <span className={toolClasses.grow} />
          <CopyMenu
            tool={tool.name}
            argumentsText={given.text}
            profile={profile}
            isBlocked={given.blocked !== undefined}
          />
        </div>
        <div className={classes.editor}>
          <Suspense fallback={<pre className={classes.waitingEditor}>{given.text}</pre>}>
            <JsonEditor
              text={given.text}
              label="Arguments as JSON"
              onChange={given.replace}
              onRun={() => start('run')}
            />
          </Suspense>
        </div>
        <Results tool={tool} runs={runs} onTake={given.replace} onProfile={setProfile} />
      </section>
    </div>
  );
}

/** Ctrl+Enter runs the tool, wherever the focus is. The editor has a key binding of its own. */
function useRunKey(run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** The server's issues stand at their fields as long as the arguments are those it judged. */
function withServerIssues(hints: readonly Issue[], run: Run | undefined, text: string): readonly Issue[] {
  // A form that was not sent yet marks required fields, but does not complain about them.
  if (run === undefined) return hints.filter(({ message }) => message !== IS_REQUIRED);
  if (run.request.argumentsText !== text) return hints;
  const issues = run.answer?.error?.issues ?? [];
  const told = new Set(issues.map(({ path }) => path));
  return [...issues, ...hints.filter(({ path }) => !told.has(path))];
}

function Examples({ tool, onTake }: { readonly tool: ToolDetail; onTake(text: string): void }) {
  const examples = tool.examples?.filter(({ input }) => input !== undefined) ?? [];
  if (examples.length === 0) return null;
  return (
    <div className={classes.examples}>
      <span className="faint">Examples</span>
      {examples.slice(0, 5).map(({ request, input }) => {
        const text = JSON.stringify(input, null, 2);
        return (
          <button key={text} type="button" className={toolClasses.inline} onClick={() => onTake(text)}>
            <VisibleText text={request ?? text} limit={80} />
          </button>
        );
      })}
    </div>
  );
}
