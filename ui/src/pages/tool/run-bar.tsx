import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Answer } from '../../api/answer.ts';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { copyText } from '../../parts/copy-text.ts';
import { Icon } from '../../parts/icons.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './run.module.css';
import { toSnippets } from './snippets.ts';
import toolClasses from './tool.module.css';
import type { Run } from './use-runs.ts';

interface RunBarProps {
  /** Why the tool cannot be run now; undefined if it can. */
  readonly blocked: string | undefined;
  readonly profile: string | undefined;
  readonly running: Run | undefined;
  onProfile(profile: string | undefined): void;
  onRun(mode: 'run' | 'dry run' | 'background'): void;
  onCancel(run: Run): void;
}

/** How the tool is run: under which profile, now or in the background, or only tried. */
export function RunBar({ blocked, profile, running, onProfile, onRun, onCancel }: RunBarProps) {
  const isBlocked = blocked !== undefined;
  return (
    <div className={classes.bar}>
      {isBlocked && (
        <p className={classes.blocked} role="status">
          <VisibleText text={blocked} limit={300} />
        </p>
      )}
      <div className={classes.buttons}>
        {running === undefined ? (
          <button
            type="button"
            className="button primary"
            disabled={isBlocked}
            title="Ctrl+Enter"
            onClick={() => onRun('run')}
          >
            <Icon name="play" size={14} /> Run
          </button>
        ) : (
          <button type="button" className="button" onClick={() => onCancel(running)}>
            <Icon name="stop" size={14} /> Cancel
          </button>
        )}
        <button type="button" className="button" disabled={isBlocked} onClick={() => onRun('dry run')}>
          Dry run
        </button>
        <button
          type="button"
          className="button"
          disabled={isBlocked}
          title="Run in the background"
          onClick={() => onRun('background')}
        >
          Background
        </button>
        <span className={toolClasses.grow} />
        <ProfileChoice profile={profile} onProfile={onProfile} />
      </div>
    </div>
  );
}

function ProfileChoice({ profile, onProfile }: Pick<RunBarProps, 'profile' | 'onProfile'>) {
  const { role } = useSession();
  const { data } = useQuery({
    queryKey: ['profiles'],
    queryFn: ({ signal }) => api<Answer<'/api/profiles'>>('/api/profiles', { signal }),
  });
  return (
    <label className={classes.profile}>
      <span className="soft">Profile</span>
      <select
        className={toolClasses.select}
        value={profile ?? ''}
        onChange={({ target }) => onProfile(target.value === '' ? undefined : target.value)}
      >
        <option value="">{role === 'operator' ? 'All tools' : 'Usual profile'}</option>
        {data?.profiles.map(({ name, default: isDefault }) => (
          <option key={name} value={name}>
            {name}
            {isDefault ? ' (default)' : ''}
          </option>
        ))}
      </select>
    </label>
  );
}

interface CopyMenuProps {
  readonly tool: string;
  readonly argumentsText: string;
  readonly profile: string | undefined;
  readonly isBlocked: boolean;
}

/** The call for another door, to be copied. */
export function CopyMenu({ tool, argumentsText, profile, isBlocked }: CopyMenuProps) {
  return (
    <Menu position="bottom-end" width={200} shadow="md" withinPortal>
      <Menu.Target>
        <button type="button" className={`button ${classes.copy}`} disabled={isBlocked}>
          <Icon name="copy" size={14} /> Copy as
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {toSnippets({ tool, argumentsText, profile, origin: location.origin }).map(({ name, text }) => (
          <Menu.Item key={name} onClick={() => void copyText(text)}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
