import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { Status } from '../../parts/status.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import definitionClasses from './definition.module.css';
import classes from './tool.module.css';

type Explanation = Answer<'/api/tools/{name}/explain'>;

/** Whether a caller sees the tool under a profile, and which layer set each limit. */
export function ExplainTab({ name }: { readonly name: string }) {
  const [asked, setAsked] = useState({ profile: '', caller: '', role: '' });
  const { data, error } = useQuery({
    queryKey: ['explain', name, asked],
    queryFn: ({ signal }) =>
      api<Explanation>(`/api/tools/${encodeURIComponent(name)}/explain`, { query: asked, signal }),
    placeholderData: (before) => before,
  });
  const profiles = useQuery({
    queryKey: ['profiles'],
    queryFn: ({ signal }) => api<Answer<'/api/profiles'>>('/api/profiles', { signal }),
  });
  return (
    <>
      <form
        className={definitionClasses.ask}
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const text = (field: string) => String(form.get(field) ?? '').trim();
          setAsked({ profile: text('profile'), caller: text('caller'), role: text('role') });
        }}
      >
        <label>
          Profile
          <select name="profile" className={classes.select}>
            <option value="">default</option>
            {profiles.data?.profiles.map((profile) => (
              <option key={profile.name}>{profile.name}</option>
            ))}
          </select>
        </label>
        <label>
          Caller
          <input name="caller" className={classes.entry} placeholder="anonymous" autoComplete="off" />
        </label>
        <label>
          Role
          <input name="role" className={classes.entry} placeholder="none" autoComplete="off" />
        </label>
        <button type="submit" className="button">
          Explain
        </button>
      </form>
      {error !== null && (
        <p className={classes.warning} role="alert">
          <VisibleText text={error.message} />
        </p>
      )}
      {data !== undefined && <Reasons explanation={data} />}
    </>
  );
}

function Reasons({ explanation }: { readonly explanation: Explanation }) {
  const { visible, profile, reasons, rates = [], stops = [], policy } = explanation;
  return (
    <>
      <p className={classes.verdict}>
        <Status tone={visible ? 'good' : 'danger'}>{visible ? 'Visible' : 'Hidden'}</Status>
        <span className="soft"> under the profile {profile}</span>
      </p>
      <ol className={definitionClasses.reasons}>
        {[...stops, ...reasons, ...rates].map((reason) => (
          <li key={reason}>
            <VisibleText text={reason} lines="many lines" limit={1000} />
          </li>
        ))}
      </ol>
      <h3 className={classes.heading}>Limits, and the layers that set them</h3>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>Limit</th>
            <th>Value</th>
            <th>Set by</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(policy).map(([limit, set]) => {
            const { value, from } = readLimit(set);
            return (
              <tr key={limit}>
                <td className="name">{limit}</td>
                <td className="name">
                  <VisibleText text={value} limit={300} />
                </td>
                <td className="soft">
                  <VisibleText text={from} limit={300} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}

/** A limit with its layers: `{ value, from }`. */
function readLimit(set: unknown): { readonly value: string; readonly from: string } {
  const { value, from } = Object(set) as { readonly value?: unknown; readonly from?: unknown }; // absent members are undefined
  const words = Array.isArray(from) ? from.map(String).join(', ') : String(from ?? '');
  return { value: JSON.stringify(value) ?? JSON.stringify(set) ?? '', from: words };
}
