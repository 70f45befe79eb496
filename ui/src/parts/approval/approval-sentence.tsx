import { VisibleText } from '../visible-text.tsx';
import classes from './approval-card.module.css';
import type { Approval, Json } from './approval-types.ts';

/** Arguments that usually name the thing a call is about, best first. */
const OBJECTS = [
  'target', 'path', 'file', 'to', 'recipient', 'url', 'name', 'title', 'id', 'key', 'repo', 'repository', 'table',
  'command', 'query', 'account', 'user', 'email', 'project', 'branch', 'resource',
]; // biome-ignore format: a list of words

/** The argument that names what the call is about: by its name, else the first short text. */
export function objectOf({ arguments: given }: Pick<Approval, 'arguments'>): readonly [string, Json] | undefined {
  const short = Object.entries(given).filter(([, value]) => isShort(value));
  const words = (name: string) => name.toLowerCase().split(/[_\-.]|(?<=[a-z])(?=[A-Z])/);
  for (const wanted of OBJECTS) {
    const found = short.find(([name]) => name.toLowerCase() === wanted || words(name).includes(wanted));
    if (found !== undefined) return found;
  }
  return short.find(([, value]) => typeof value === 'string');
}

function isShort(value: Json): boolean {
  return (typeof value === 'string' && value !== '' && value.length <= 80) || typeof value === 'number';
}

/** `to` reads as it is; other names read "with path". */
function isPreposition(name: string): boolean {
  return ['to', 'from', 'at', 'into', 'on'].includes(name);
}

/** Who wants to do what to what, in one sentence. */
export function ApprovalSentence({ approval }: { readonly approval: Approval }) {
  if (approval.items !== undefined) return <BatchSentence approval={approval} count={approval.items.length} />;
  return <CallSentence approval={approval} />;
}

function BatchSentence({ approval, count }: { readonly approval: Approval; readonly count: number }) {
  return (
    <p className={classes.sentence}>
      <strong>
        <VisibleText text={approval.caller.id ?? 'A caller without an id'} limit={80} />
      </strong>{' '}
      wants to make <strong>{count} calls</strong> inside{' '}
      <strong className="name">
        <VisibleText text={approval.tool} limit={120} />
      </strong>
      .
    </p>
  );
}

function CallSentence({ approval }: { readonly approval: Approval }) {
  const { caller, tool, title, question, inside } = approval;
  const object = objectOf(approval);
  const who = caller.id === undefined ? 'A caller without an id' : caller.id;
  return (
    <p className={classes.sentence}>
      {question === undefined ? (
        <>
          <strong>
            <VisibleText text={who} limit={80} />
          </strong>{' '}
          wants to run{' '}
          <strong className="name">
            <VisibleText text={tool} limit={120} />
          </strong>
          {title !== undefined && title !== tool && (
            <>
              {' '}
              (<VisibleText text={title} limit={120} />)
            </>
          )}
          {object !== undefined && (
            <>
              {' '}
              {isPreposition(object[0]) ? '' : 'with '}
              <VisibleText text={object[0]} limit={60} /> <ObjectText value={object[1]} />
            </>
          )}
        </>
      ) : (
        <>
          <strong className="name">
            <VisibleText text={tool} limit={120} />
          </strong>
          , run by{' '}
          <strong>
            <VisibleText text={who} limit={80} />
          </strong>
          , asks: “<VisibleText text={question} limit={2000} />”
        </>
      )}
      {inside !== undefined && inside.length > 0 && (
        <>
          , inside{' '}
          <span className="name">
            <VisibleText text={inside.join(' inside ')} limit={200} />
          </span>
        </>
      )}
      {question === undefined && '.'}
    </p>
  );
}

function ObjectText({ value }: { readonly value: Json }) {
  return (
    <strong className={classes.object}>
      {typeof value === 'string' ? (
        <>
          “<VisibleText text={value} limit={80} />”
        </>
      ) : (
        JSON.stringify(value)
      )}
    </strong>
  );
}
