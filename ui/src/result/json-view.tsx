import { useEffect, useState } from 'react';
import type { JsonNode, ParsedJson } from '../json/json-text.ts';
import { Icon } from '../parts/icons.tsx';
import { VisibleText } from '../parts/visible-text.tsx';
import classes from './json-view.module.css';
import { parseAside } from './parse-aside.ts';
import resultClasses from './result.module.css';

const PAGE = 100;
const OPEN_PARTS = 30;
const MAX_TEXT = 2000;

/** Parses a JSON text; undefined while it is not parsed yet. */
export function useParsed(text: string): ParsedJson | undefined {
  const [parsed, setParsed] = useState<{ readonly of: string; readonly result: ParsedJson }>();
  useEffect(() => {
    let isWanted = true;
    void parseAside(text).then((result) => isWanted && setParsed({ of: text, result }));
    return () => {
      isWanted = false;
    };
  }, [text]);
  return parsed?.of === text ? parsed.result : undefined;
}

/** A JSON value as a tree whose parts are folded and shown in pages. */
export function JsonTree({ node }: { readonly node: JsonNode }) {
  return (
    <div className={classes.tree}>
      <TreeNode node={node} depth={0} />
    </div>
  );
}

interface TreeNodeProps {
  readonly node: JsonNode;
  readonly depth: number;
  readonly name?: string;
}

function TreeNode({ node, depth, name }: TreeNodeProps) {
  const parts = partsOf(node);
  const [isOpen, setOpen] = useState(depth === 0 || (depth < 3 && parts.length <= OPEN_PARTS));
  const [count, setCount] = useState(PAGE);
  if (node.type !== 'object' && node.type !== 'array')
    return (
      <div className={classes.leaf}>
        <Name name={name} />
        <Leaf node={node} />
      </div>
    );
  return (
    <div>
      <button type="button" className={classes.branch} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'right'} size={12} />
        <Name name={name} />
        <span className="faint">{sizeOf(node)}</span>
      </button>
      {isOpen && (
        <div className={classes.inside}>
          {parts.slice(0, count).map(([key, value]) => (
            <TreeNode key={key} name={key} node={value} depth={depth + 1} />
          ))}
          {parts.length > count && (
            <button type="button" className={resultClasses.more} onClick={() => setCount(count + PAGE)}>
              Show more ({(parts.length - count).toLocaleString('en')} not shown)
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <span className={classes.key}>
      <VisibleText text={name} limit={100} />
    </span>
  );
}

/** A text, number or literal, in the colour of its type. */
export function Leaf({ node }: { readonly node: JsonNode }) {
  if (node.type === 'string')
    return (
      <span className={classes.string}>
        <VisibleText text={node.value} lines="many lines" limit={MAX_TEXT} />
        {node.value === '' && <span className="faint">empty</span>}
      </span>
    );
  if (node.type === 'number') return <span className={classes.number}>{node.raw}</span>;
  return <span className={classes.literal}>{node.type === 'literal' ? String(node.value) : sizeOf(node)}</span>;
}

function partsOf(node: JsonNode): readonly (readonly [string, JsonNode])[] {
  if (node.type === 'array') return node.items.map((item, index) => [String(index), item]);
  return node.type === 'object' ? node.members.map(({ key, value }) => [key, value]) : [];
}

function sizeOf(node: JsonNode): string {
  const { length } = partsOf(node);
  const [one, many] = node.type === 'array' ? ['item', 'items'] : ['member', 'members'];
  return `${length.toLocaleString('en')} ${length === 1 ? one : many}`;
}
