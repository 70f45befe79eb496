import { type EntrySink, type NoList, noToolsIn } from './spec-sink.ts';

/** Reads the entries of JSON text: `{ "tools": [...] }`, or the bare list. */
export function readJsonEntries(text: string, sink: EntrySink): NoList | undefined {
  let top: unknown;
  try {
    top = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { reason: `it is not JSON: ${error.message}` };
  }
  const tools = typeof top === 'object' && top !== null && 'tools' in top ? top.tools : top;
  if (!Array.isArray(tools)) return noToolsIn(top);
  const lines = linesOfEntries(text, top === tools ? 1 : 2);
  for (const [index, entry] of tools.entries()) sink.entry(entry, lines[index] ?? 1);
  return undefined;
}

const [LINE_BREAK, SPACE, QUOTE, COMMA, COLON] = [10, 32, 34, 44, 58];
const [LIST, LIST_END, MAP, MAP_END] = [91, 93, 123, 125];

/** The line of each entry of valid JSON whose list of tools is nested `listDepth` deep; the parser does not tell. */
function linesOfEntries(text: string, listDepth: 1 | 2): readonly number[] {
  let lines: number[] = [];
  let line = 1;
  let depth = 0;
  let key = '';
  let isInList = false;
  let isStart = false; // the next value is an entry
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === LINE_BREAK) line++;
    if (char <= SPACE || char === COLON) continue;
    if (char === COMMA) {
      isStart = isInList && depth === listDepth;
      continue;
    }
    if (char === LIST_END || char === MAP_END) {
      depth--;
      isStart = false;
      continue;
    }
    if (isStart) lines.push(line);
    isStart = false;
    if (char === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1) key = text.slice(at, end + 1);
      at = end;
    } else if (char === LIST || char === MAP) {
      depth++;
      if (depth !== listDepth) continue;
      isInList = char === LIST && (listDepth === 1 || key === '"tools"');
      if (isInList) lines = [];
      isStart = isInList;
    }
  }
  return lines;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
