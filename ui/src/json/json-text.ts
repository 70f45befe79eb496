/** A value in a JSON text, with the place where it stands. Numbers keep their digits, objects the order of their members. */
export type JsonNode = ObjectNode | ArrayNode | StringNode | NumberNode | LiteralNode;

interface Place {
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

export interface ObjectNode extends Place {
  readonly type: 'object';
  readonly members: readonly MemberNode[];
}

export interface MemberNode extends Place {
  readonly key: string;
  readonly value: JsonNode;
}

export interface ArrayNode extends Place {
  readonly type: 'array';
  readonly items: readonly JsonNode[];
}

interface StringNode extends Place {
  readonly type: 'string';
  readonly value: string;
}

interface NumberNode extends Place {
  readonly type: 'number';
  /** The number as it is written. */
  readonly raw: string;
}

interface LiteralNode extends Place {
  readonly type: 'literal';
  readonly value: boolean | null;
}

/** Where and why a text is not JSON. */
interface JsonProblem {
  readonly message: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

export type ParsedJson = { readonly node: JsonNode } | { readonly problem: JsonProblem };

const MAX_DEPTH = 500;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const [FIRST_CONTROL, LAST_CONTROL] = ['\u0000', '\u001f'];
const PLAIN = new RegExp(`[^"\\\\${FIRST_CONTROL}-${LAST_CONTROL}]*`, 'y');
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORDS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/** True if the text is one JSON number and nothing else. */
export function isJsonNumber(text: string): boolean {
  NUMBER.lastIndex = 0;
  return NUMBER.exec(text)?.[0].length === text.length && text !== '';
}

/** Parses a JSON text. Nothing is lost: digits, order and places are kept. A name given twice is a problem. */
export function parseJson(text: string): ParsedJson {
  try {
    return { node: new Reader(text).readAll() };
  } catch (error) {
    if (error instanceof NotJson) return { problem: toProblem(text, error) };
    throw error;
  }
}

class NotJson extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

function toProblem(text: string, { message, offset }: NotJson): JsonProblem {
  const before = text.slice(0, offset).split('\n');
  return { message, offset, line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** Reads one text from left to right. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): JsonNode {
    this.#skipSpace();
    if (this.#at === this.#text.length)
      throw new NotJson('There is no JSON value. Write {} for no arguments.', this.#at);
    const node = this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new NotJson('Something follows after the end of the value.', this.#at);
    return node;
  }

  #readValue(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw new NotJson(`Values are nested more than ${MAX_DEPTH} deep.`, this.#at);
    const character = this.#text[this.#at];
    if (character === '{') return this.#readObject(depth);
    if (character === '[') return this.#readArray(depth);
    if (character === '"') return this.#readString();
    const start = this.#at;
    for (const [word, value] of WORDS)
      if (this.#text.startsWith(word, start)) {
        this.#at += word.length;
        return { type: 'literal', value, start, end: this.#at };
      }
    const raw = this.#match(NUMBER);
    if (raw === undefined || raw === '') throw new NotJson(`A value is expected here${this.#found()}.`, start);
    return { type: 'number', raw, start, end: this.#at };
  }

  #readObject(depth: number): ObjectNode {
    const start = this.#at;
    const members: MemberNode[] = [];
    const keys = new Set<string>();
    this.#readParts('}', () => {
      const at = this.#at;
      if (this.#text[at] !== '"') throw new NotJson(`A name in double quotes is expected here${this.#found()}.`, at);
      const key = this.#readString().value;
      if (keys.has(key)) throw new NotJson(`The name ${JSON.stringify(key)} is given twice.`, at);
      keys.add(key);
      this.#skipSpace();
      this.#expect(':');
      this.#skipSpace();
      const value = this.#readValue(depth + 1);
      members.push({ key, value, start: at, end: value.end });
    });
    return { type: 'object', members, start, end: this.#at };
  }

  #readArray(depth: number): ArrayNode {
    const start = this.#at;
    const items: JsonNode[] = [];
    this.#readParts(']', () => items.push(this.#readValue(depth + 1)));
    return { type: 'array', items, start, end: this.#at };
  }

  #readParts(close: '}' | ']', readPart: () => void): void {
    this.#at++;
    this.#skipSpace();
    if (this.#text[this.#at] === close) {
      this.#at++;
      return;
    }
    for (;;) {
      readPart();
      this.#skipSpace();
      if (this.#text[this.#at] === close) {
        this.#at++;
        return;
      }
      if (this.#text[this.#at] !== ',')
        throw new NotJson(`"," or "${close}" is expected here${this.#found()}.`, this.#at);
      this.#at++;
      this.#skipSpace();
    }
  }

  #readString(): StringNode {
    const start = this.#at++;
    for (;;) {
      this.#match(PLAIN);
      const character = this.#text[this.#at];
      if (character === '"') break;
      if (character === undefined) throw new NotJson('The text that begins here has no closing quote.', start);
      if (character !== '\\')
        throw new NotJson('A line break or control character in a text must be escaped, such as \\n.', this.#at);
      if (this.#match(ESCAPE) === undefined) throw new NotJson('This is not an escape of JSON.', this.#at);
    }
    this.#at++;
    const value: string = JSON.parse(this.#text.slice(start, this.#at)); // the characters were checked above
    return { type: 'string', value, start, end: this.#at };
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character)
      throw new NotJson(`"${character}" is expected here${this.#found()}.`, this.#at);
    this.#at++;
  }

  #found(): string {
    const character = this.#text.slice(this.#at)[Symbol.iterator]().next().value;
    return character === undefined ? ', but the text ends' : `, not ${JSON.stringify(character)}`;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}
