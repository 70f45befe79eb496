import { useMemo } from 'react';
import { Status, type Tone } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './tool.module.css';

/** What would happen to a call, and which layer decides it. */
interface DryRun {
  readonly would: 'run' | 'ask' | 'refuse';
  readonly profile?: string;
  readonly caller?: { readonly id?: string; readonly roles?: readonly string[] };
  readonly visible: boolean;
  readonly valid: boolean;
  readonly issues?: readonly { readonly path: string; readonly message: string }[];
  readonly layers: readonly {
    readonly layer: string;
    readonly verdict: keyof typeof LAYER_VERDICTS;
    readonly says: string;
  }[];
}

const VERDICTS: Readonly<Record<DryRun['would'], readonly [Tone, string]>> = {
  run: ['good', 'The call would run.'],
  ask: ['warn', 'The call would wait for approval.'],
  refuse: ['danger', 'The call would be refused.'],
};

const LAYER_VERDICTS = {
  pass: ['good', 'passes'],
  ask: ['warn', 'asks'],
  refuse: ['danger', 'refuses'],
  unknown: ['quiet', 'decides when it runs'],
} as const satisfies Readonly<Record<string, readonly [Tone, string]>>;

/** The verdict of every layer. Nothing has run. */
export function DryRunView({ body }: { readonly body: string }) {
  const found = useMemo(() => JSON.parse(body) as DryRun, [body]); // the answer of a dry run
  const [tone, words] = VERDICTS[found.would];
  return (
    <div>
      <p className={classes.verdict}>
        <Status tone={tone}>{words}</Status> <span className="soft">Nothing has run.</span>
      </p>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>Layer</th>
            <th>Verdict</th>
            <th>Reason</th>
          </tr>
        </thead>
        <tbody>
          {found.layers.map(({ layer, verdict, says }) => (
            <tr key={layer}>
              <td className={`name ${classes.layer}`}>{layer}</td>
              <td>
                <Status tone={LAYER_VERDICTS[verdict][0]}>{LAYER_VERDICTS[verdict][1]}</Status>
              </td>
              <td className="soft">
                <VisibleText text={says} lines="many lines" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.issues?.map(({ path, message }) => (
        <p key={`${path} ${message}`} className={classes.warning}>
          <span className="name">
            <VisibleText text={path || 'arguments'} />
          </span>{' '}
          <VisibleText text={message} />
        </p>
      ))}
    </div>
  );
}
