import type { AlignType, Nodes, Parents, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { createElement, type ReactNode, useMemo } from 'react';
import { VisibleText } from '../parts/visible-text.tsx';
import classes from './markdown.module.css';

/** Markdown that others wrote, as elements of this page. HTML in it is shown as text, pictures of other servers as links. */
export function Markdown({ text }: { readonly text: string }) {
  const tree = useMemo(() => readMarkdown(text), [text]);
  if (tree === undefined) return <VisibleText text={text} lines="many lines" limit={100_000} />;
  return <div className={classes.markdown}>{childrenOf(tree)}</div>;
}

const MAX_DEPTH = 100;

/** The tree of a text; undefined if it is nested too deeply to be shown. */
function readMarkdown(text: string): Parents | undefined {
  try {
    const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
    let level: readonly Nodes[] = [tree];
    for (let depth = 0; level.length > 0; depth++) {
      if (depth > MAX_DEPTH) return undefined;
      level = level.flatMap((node): readonly Nodes[] => ('children' in node ? node.children : []));
    }
    return tree;
  } catch (cause) {
    if (cause instanceof RangeError) return undefined; // the parser nests its calls as deeply as the text
    throw cause;
  }
}

function childrenOf(node: Parents): ReactNode {
  return node.children.map((child, place) => toElement(child as Nodes, place)); // each child is a node of the tree
}

const TAGS: Readonly<Partial<Record<Nodes['type'], string>>> = {
  paragraph: 'p',
  emphasis: 'em',
  strong: 'strong',
  delete: 's',
  blockquote: 'blockquote',
  listItem: 'li',
};

function toElement(node: Nodes, key: number): ReactNode {
  const tag = TAGS[node.type];
  if (tag !== undefined && 'children' in node) return createElement(tag, { key }, childrenOf(node));
  switch (node.type) {
    case 'text':
    case 'html':
      return <VisibleText key={key} text={node.value} lines="many lines" limit={100_000} />;
    case 'heading':
      return createElement(`h${Math.min(6, node.depth + 2)}`, { key }, childrenOf(node));
    case 'list':
      return node.ordered ? (
        <ol key={key} start={node.start ?? 1}>
          {childrenOf(node)}
        </ol>
      ) : (
        <ul key={key}>{childrenOf(node)}</ul>
      );
    case 'inlineCode':
      return (
        <code key={key}>
          <VisibleText text={node.value} limit={10_000} />
        </code>
      );
    case 'code':
      return (
        <pre key={key}>
          <VisibleText text={node.value} lines="many lines" limit={100_000} />
        </pre>
      );
    case 'break':
      return <br key={key} />;
    case 'thematicBreak':
      return <hr key={key} />;
    case 'link':
      return <SafeLink key={key} href={node.url} label={childrenOf(node)} />;
    case 'image':
      return <SafeLink key={key} href={node.url} label={`Picture: ${node.alt || node.url}`} />;
    case 'table':
      return <MarkdownTable key={key} table={node} />;
    default:
      return 'children' in node ? <span key={key}>{childrenOf(node)}</span> : null;
  }
}

/** A link to another server: only http, https and mailto, opened apart, and its address can be read before. */
export function SafeLink({ href, label }: { readonly href: string; readonly label: ReactNode }) {
  if (!/^(?:https?|mailto):/i.test(href))
    return (
      <span title={href.slice(0, 500)}>
        {label} <span className="faint name">({href.slice(0, 120)})</span>
      </span>
    );
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer nofollow" className={classes.link}>
      {label}
    </a>
  );
}

function MarkdownTable({ table }: { readonly table: Table }) {
  const [head, ...rows] = table.children;
  const alignOf = (column: number): AlignType => table.align?.[column] ?? null;
  return (
    <table>
      <thead>
        <tr>
          {head?.children.map((cell, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cells are known by their place
            <th key={column} data-align={alignOf(column)}>
              {childrenOf(cell)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows are known by their place
          <tr key={place}>
            {row.children.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: cells are known by their place
              <td key={column} data-align={alignOf(column)}>
                {childrenOf(cell)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
