import { toAbsolute } from '../relative-time.tsx';
import { VisibleText } from '../visible-text.tsx';
import classes from './approval-remember.module.css';
import type { GrantTerms, JsonMembers, Remember } from './approval-types.ts';

/** What a remembered approval is about. */
interface RuleAbout {
  readonly tool: string;
  readonly caller: { readonly id?: string };
  readonly profile: string;
  readonly conversation?: string;
  readonly inside?: readonly string[];
  readonly reason?: string;
}

interface RuleProps {
  readonly about: RuleAbout;
  readonly remember: Remember;
  readonly endsAt: number;
  readonly hashes?: { readonly argumentsHash: string; readonly definitionHash: string } | undefined;
  /** Number of calls that still pass; absent if they are not counted. */
  readonly usesLeft?: number | undefined;
}

/** True for the form with a number of uses. */
export function hasUses(remember: Remember | undefined): remember is GrantTerms {
  return typeof remember === 'object' && 'uses' in remember;
}

/** The exact rule of a remembered approval: which calls pass without asking, and until when. */
export function ApprovalRule({ about, remember, endsAt, hashes, usesLeft }: RuleProps) {
  const { tool, caller, profile, inside = [], reason } = about;
  return (
    <dl className={classes.rule} aria-label="Rule of the remembered approval">
      <dt>Rule</dt>
      <dd>
        Calls of <Name text={tool} /> by <Name text={caller.id ?? 'a caller without an id'} /> in the profile{' '}
        <Name text={profile} />
        {inside.length > 0 && (
          <>
            , made by <Name text={inside[0] ?? ''} />,
          </>
        )}{' '}
        run without asking.
      </dd>
      <dt>Scope</dt>
      <dd>
        <Scope about={about} remember={remember} argumentsHash={hashes?.argumentsHash} usesLeft={usesLeft} />
      </dd>
      <dt>Bound to</dt>
      <dd>
        The present definition of the tool
        {hashes !== undefined && (
          <>
            {' '}
            (<span className="name">{hashes.definitionHash.slice(0, 8)}</span>)
          </>
        )}
        , the present roles and permissions of the caller
        {reason !== undefined && (
          <>
            , and the reason “<VisibleText text={reason} limit={200} />”
          </>
        )}
        . If one of them changes, the server asks again.
      </dd>
      <dt>Ends</dt>
      <dd>{toAbsolute(endsAt)}, or when an operator revokes it under Remembered.</dd>
    </dl>
  );
}

function Name({ text }: { readonly text: string }) {
  return (
    <span className="name">
      <VisibleText text={text} limit={100} />
    </span>
  );
}

interface ScopeProps extends Pick<RuleProps, 'about' | 'remember' | 'usesLeft'> {
  readonly argumentsHash: string | undefined;
}

function Scope({ about, remember, argumentsHash, usesLeft }: ScopeProps) {
  const hash = argumentsHash === undefined ? '' : ` (${argumentsHash.slice(0, 8)})`;
  if (remember === 'arguments') return `Only with exactly these arguments${hash}.`;
  if (remember === 'conversation')
    return (
      <>
        Any arguments, only in the conversation <Name text={about.conversation ?? ''} />.
      </>
    );
  if (!hasUses(remember)) return 'Any arguments, in any conversation.';
  const count = usesLeft ?? remember.uses;
  const varying = Object.entries(remember.vary ?? {});
  return (
    <>
      {count === 1 ? 'One further call' : `${count.toLocaleString('en')} further calls`}, with exactly these arguments
      {hash}
      {varying.length === 0 ? '.' : ', except:'}
      {varying.map(([name, schema]) => (
        <span key={name} className={classes.varying}>
          <Name text={name} />: {schemaWords(schema)}
        </span>
      ))}
    </>
  );
}

/** The schema of what may vary, in words where it is simple. */
function schemaWords(schema: JsonMembers): string {
  const { type, minimum, maximum, maxLength, ...rest } = schema;
  if (Object.keys(rest).length > 0) return JSON.stringify(schema);
  const isNumber = type === 'number' || type === 'integer';
  if (isNumber && minimum !== undefined && maximum !== undefined) return `a number from ${minimum} to ${maximum}`;
  if (type === 'string' && maxLength !== undefined) return `any text of at most ${maxLength} characters`;
  return type === 'boolean' ? 'true or false' : JSON.stringify(schema);
}
