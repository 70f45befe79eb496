import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { api } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import sourcesClasses from './sources.module.css';
import classes from './stop-dialog.module.css';

interface StopDialogProps {
  /** Chosen already: `source:shop`. Otherwise the operator names it. */
  readonly target?: string;
  onClose(): void;
}

const KINDS = {
  tool: 'a tool',
  source: 'a source',
  caller: 'a caller',
  profile: 'a profile',
  all: 'everything',
} as const;
type Kind = keyof typeof KINDS;

/** Stops the calls of a tool, a source, a caller, a profile, or all of them, until an operator resumes them. */
export function StopDialog({ target: given, onClose }: StopDialogProps) {
  const [kind, setKind] = useState<Kind>('tool');
  const [name, setName] = useState('');
  const [note, setNote] = useState('');
  const [isCancelling, setCancelling] = useState(false);
  const queries = useQueryClient();
  const target = given ?? (kind === 'all' ? 'all' : `${kind}:${name.trim()}`);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api('/api/stops', {
        method: 'POST',
        body: { target, ...(note !== '' && { note }), ...(isCancelling && { cancel: true }) },
      }),
    onSuccess: async () => {
      await Promise.all([['stops'], ['sources']].map((queryKey) => queries.invalidateQueries({ queryKey })));
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    mutate();
  };
  return (
    <Dialog title={given === undefined ? 'Stop calls' : `Stop ${given.replace(':', ' ')}`} onClose={onClose}>
      <form onSubmit={submit} className={classes.form}>
        <p className="soft">Every server with this store refuses the calls within a second, until they are resumed.</p>
        {given === undefined && <Target kind={kind} name={name} onKind={setKind} onName={setName} />}
        <Note note={note} onNote={setNote} />
        <label className={classes.check}>
          <input
            type="checkbox"
            checked={isCancelling}
            onChange={(event) => setCancelling(event.currentTarget.checked)}
          />
          Cancel the calls in flight as well
        </label>
        <p role="alert" className={sourcesClasses.problem}>
          {error?.message}
        </p>
        <div className={classes.buttons}>
          <button type="button" className="button" onClick={onClose}>
            Do not stop
          </button>
          <button
            type="submit"
            className="button primary danger"
            disabled={isPending || (given === undefined && kind !== 'all' && name.trim() === '')}
          >
            {isPending ? 'Stopping' : `Stop ${target === 'all' ? 'all calls' : (target.split(':')[1] ?? '')}`.trim()}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Note({ note, onNote }: { readonly note: string; onNote(note: string): void }) {
  return (
    <Field label="Note" says="Refused callers are shown it.">
      {(field) => (
        <input
          id={field}
          className="input"
          maxLength={200}
          value={note}
          onChange={(event) => onNote(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface TargetProps {
  readonly kind: Kind;
  readonly name: string;
  onKind(kind: Kind): void;
  onName(name: string): void;
}

function Target({ kind, name, onKind, onName }: TargetProps) {
  return (
    <div className={classes.target}>
      <Field label="Stop">
        {(field) => (
          <select
            id={field}
            className="input"
            value={kind}
            onChange={(event) => onKind(event.currentTarget.value as Kind)} // one of the options below
          >
            {Object.entries(KINDS).map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        )}
      </Field>
      {kind !== 'all' && (
        <Field label={kind === 'caller' ? 'Id' : 'Name'}>
          {(field) => (
            <input
              id={field}
              className="input name"
              spellCheck={false}
              value={name}
              onChange={(event) => onName(event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly says?: string;
  readonly children: (id: string) => React.ReactNode;
}

function Field({ label, says, children }: FieldProps) {
  const id = useId();
  return (
    <div className={classes.field}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {says !== undefined && <span className="soft">{says}</span>}
    </div>
  );
}
