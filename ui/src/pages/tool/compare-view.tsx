import { useMemo } from 'react';
import { parseJson } from '../../json/json-text.ts';
import { VisibleText } from '../../parts/visible-text.tsx';
import type { CallAnswer } from '../../result/call-answer.ts';
import { compareJson, type JsonChange } from '../../result/compare-json.ts';
import { useParsed } from '../../result/json-view.tsx';
import runClasses from './run.module.css';
import classes from './tool.module.css';
import type { Run } from './use-runs.ts';

interface CompareViewProps {
  readonly before: Run;
  readonly after: Run;
}

/** What differs between two runs: profile, arguments and result, place by place. */
export function CompareView({ before, after }: CompareViewProps) {
  const sent = useMemo(
    () => compareJson(nodeOf(before.request.argumentsText), nodeOf(after.request.argumentsText)),
    [before, after],
  );
  const [old, young] = [useParsed(comparable(before)), useParsed(comparable(after))];
  const isReady = old !== undefined && young !== undefined && 'node' in old && 'node' in young;
  const answered = useMemo(() => (isReady ? compareJson(old.node, young.node) : []), [isReady, old, young]);
  return (
    <div className={runClasses.result}>
      <p className="soft">
        Run {before.number} ({before.request.profile ?? 'all tools'}) compared with run {after.number} (
        {after.request.profile ?? 'all tools'}).
      </p>
      <h3 className={classes.heading}>Arguments</h3>
      <Changes changes={sent} same="Both runs had the same arguments." />
      <h3 className={classes.heading}>Result</h3>
      <Changes
        changes={answered}
        same={isReady ? 'Both runs had the same result.' : 'One of the results is too large to be compared.'}
      />
    </div>
  );
}

function nodeOf(text: string) {
  const parsed = parseJson(text);
  return 'node' in parsed ? parsed.node : undefined;
}

/** The parts of an answer that can be compared: what differs in every run, such as times and ids, is left out. */
function comparable(run: Run): string {
  const answer: CallAnswer | undefined = run.later ?? run.answer;
  const parts = answer?.parts.map((part) => partText(part)) ?? [];
  const error = answer?.error === undefined ? [] : [JSON.stringify(answer.error)];
  const all = [...error, ...parts];
  return all.length === 1 ? (all[0] ?? 'null') : `[${all.join(',')}]`;
}

function partText(part: CallAnswer['parts'][number]): string {
  if (part.kind === 'json' && part.of.file === undefined) return part.of.text;
  return JSON.stringify('of' in part ? part.of.text : part);
}

/** A table of changes: place, before, after. */
function Changes({ changes, same }: { readonly changes: readonly JsonChange[]; readonly same: string }) {
  if (changes.length === 0) return <p className="soft">{same}</p>;
  return (
    <table className={`${classes.table} ${classes.compared}`}>
      <thead>
        <tr>
          <th>Place</th>
          <th>Before</th>
          <th>After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ pointer, kind, before, after }) => (
          <tr key={pointer}>
            <td className="name">
              <VisibleText text={pointer || 'all'} limit={120} />
            </td>
            <td className="name">
              {before === undefined ? <span className="faint">{kind}</span> : <VisibleText text={before} limit={400} />}
            </td>
            <td className="name">
              {after === undefined ? <span className="faint">{kind}</span> : <VisibleText text={after} limit={400} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
