import type { Alias, Node, Pair, YAMLMap } from 'yaml';
import type { Mistake, Path } from './mistake.ts';

type Found = Node | null | undefined;
type NodePair = Pair<Node, Node | null>;

/** Finds where in its text something of a document stands: at the path, or at the nearest thing around it. */
export type FindOffset = (path: Path, at: Mistake['at']) => number | undefined;

/** Makes the search of one document that could be read as data. Nothing is looked at before somebody asks. */
export function createFindOffset(root: Node | null, yaml: typeof import('yaml')): FindOffset {
  let anchored: readonly Node[] | undefined;

  // An alias stands for what last bore the name before it.
  const target = (alias: Alias): Found => {
    anchored ??= listAnchored(root, yaml);
    const before = offsetOf(alias) ?? 0;
    return anchored.findLast((node) => anchorOf(node) === alias.source && (offsetOf(node) ?? 0) < before);
  };
  const follow = (node: Found): Found => (yaml.isAlias(node) ? target(node) : node);

  const findPair = (map: YAMLMap, key: string): NodePair | undefined => {
    const pairs = map.items as NodePair[]; // composed maps hold pairs of nodes
    const named = (name: string) => (pair: NodePair) => yaml.isScalar(pair.key) && String(pair.key.value) === name;
    const own = pairs.find(named(key));
    if (own !== undefined) return own;
    const merged = pairs.filter(named('<<')).map(({ value }) => value);
    const maps = merged.flatMap((value) => (yaml.isSeq(value) ? (value.items as Node[]) : [value])).map(follow); // composed lists hold nodes
    for (const from of maps) {
      const found = yaml.isMap(from) ? findPair(from, key) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return function findOffset(path, at) {
    let place: Found = root;
    let node: Found = root;
    for (const [index, segment] of path.entries()) {
      const container = follow(node);
      const item = yaml.isSeq(container) ? (container.items[Number(segment)] as Found) : undefined; // as above
      const pair = yaml.isMap(container) ? findPair(container, String(segment)) : undefined;
      if (item === undefined && pair === undefined) break;
      node = item ?? pair?.value;
      const isKeyMeant = at === 'key' || index < path.length - 1 || isEmpty(node);
      place = pair !== undefined && isKeyMeant ? pair.key : node;
    }
    return offsetOf(place);
  };
}

function listAnchored(root: Node | null, yaml: typeof import('yaml')): readonly Node[] {
  const nodes: Node[] = [];
  yaml.visit(root, { Value: (_, node) => void (node.anchor !== undefined && nodes.push(node)) });
  return nodes;
}

function anchorOf(node: Node): string | undefined {
  return (node as { anchor?: string }).anchor; // scalars, lists and maps may have one
}

function offsetOf(node: Found): number | undefined {
  return node?.range?.[0];
}

/** What is empty has no place in the text. */
function isEmpty(node: Found): boolean {
  const [start, end] = node?.range ?? [0, 0];
  return start === end;
}
