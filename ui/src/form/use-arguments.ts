import { useEffect, useMemo, useState } from 'react';
import { useSession } from '../api/session.ts';
import { type ParsedJson, parseJson } from '../json/json-text.ts';
import { nodeAt, toSteps } from '../json/json-value.ts';

/** The arguments of a call: one text, what is typed but not JSON yet, and the chosen forms of unions. */
export interface Arguments {
  readonly text: string;
  readonly parsed: ParsedJson;
  readonly drafts: ReadonlyMap<string, string>;
  readonly chosen: ReadonlyMap<string, number>;
  /** Why the arguments cannot be sent; undefined if they can. */
  readonly blocked: string | undefined;
  edit(change: (text: string) => string): void;
  /** Replaces the whole text, as the editor does. */
  replace(text: string): void;
  setDraft(pointer: string, draft: string | undefined): void;
  choose(pointer: string, variant: number): void;
}

/** What was typed at an entry of the history of the browser, and who typed it. */
interface Kept {
  readonly text: string;
  readonly caller: string;
}

const MAX_LENGTH = 100_000;
/** Browsers limit how often an entry is written. */
const WRITE_AFTER_MS = 200;

/** The arguments of a call. A reload and a way back show them again, to the same caller; a new visit begins with `initial`. */
export function useArguments(initial: string): Arguments {
  const { role, caller } = useSession();
  const by = `${role} ${caller?.id ?? ''}`;
  const kept = readKept();
  const given = useText(kept?.caller === by ? kept.text : initial);
  const { text } = given;
  useEffect(() => {
    const isUntouched = text === initial && readKept() === undefined;
    if (isUntouched || text.length > MAX_LENGTH) return;
    const write = () => history.replaceState({ ...history.state, kept: { text, caller: by } satisfies Kept }, '');
    const timer = setTimeout(write, WRITE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, initial, by]);
  return given;
}

function readKept(): Kept | undefined {
  return (history.state as { readonly kept?: Kept } | null)?.kept; // only this page writes it
}

/** The text of the arguments. It is never dropped, whether it parses or not. */
function useText(initial: string): Arguments {
  const [text, setText] = useState(initial);
  const [drafts, setDrafts] = useState<ReadonlyMap<string, string>>(new Map());
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map());
  const parsed = useMemo(() => parseJson(text), [text]);
  return {
    text,
    parsed,
    drafts,
    chosen,
    blocked: whyBlocked(parsed, drafts),
    edit: setText,
    replace(next) {
      setText(next);
      setDrafts(drafts.size === 0 ? drafts : draftsAfter(drafts, text, next));
      setChosen(new Map());
    },
    setDraft: (pointer, draft) => setDrafts((before) => withEntry(before, pointer, draft)),
    choose: (pointer, variant) => setChosen((before) => withEntry(before, pointer, variant)),
  };
}

function whyBlocked(parsed: ParsedJson, drafts: ReadonlyMap<string, string>): string | undefined {
  if ('problem' in parsed)
    return `The JSON does not parse. Line ${parsed.problem.line}, column ${parsed.problem.column}: ${parsed.problem.message}`;
  if (parsed.node.type !== 'object') return 'Arguments are an object: write {} around them.';
  const [draft] = drafts.keys();
  return draft === undefined ? undefined : `What is typed at ${draft} is not complete.`;
}

/** The drafts whose place the new text leaves as it was: the others are decided there. */
function draftsAfter(drafts: ReadonlyMap<string, string>, before: string, after: string): ReadonlyMap<string, string> {
  const [old, young] = [writtenIn(before), writtenIn(after)];
  return young === undefined || old === undefined
    ? drafts
    : new Map([...drafts].filter(([pointer]) => old(pointer) === young(pointer)));
}

function writtenIn(text: string): ((pointer: string) => string | undefined) | undefined {
  const parsed = parseJson(text);
  if ('problem' in parsed) return undefined;
  return (pointer) => {
    const node = nodeAt(parsed.node, toSteps(pointer));
    return node === undefined ? undefined : text.slice(node.start, node.end);
  };
}

function withEntry<T>(map: ReadonlyMap<string, T>, key: string, value: T | undefined): ReadonlyMap<string, T> {
  if (map.get(key) === value) return map;
  const copy = new Map(map);
  if (value === undefined) copy.delete(key);
  else copy.set(key, value);
  return copy;
}
