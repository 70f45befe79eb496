/** What an answer is, as far as its content type says. */
export interface ContentType {
  readonly is: 'json' | 'text' | 'image' | 'audio' | 'bytes' | 'unknown';
  /** In lower case, without parameters. */
  readonly name: string;
  readonly charset: string | undefined;
}

const MAX_LENGTH = 200;
const TEXTS =
  /^(text\/|application\/(xml|javascript|ecmascript|x-ndjson|jsonl|yaml|x-yaml|toml|graphql|sql|x-www-form-urlencoded|x-sh)$)|\+(xml|yaml)$/;

const JSON_TYPE: ContentType = { is: 'json', name: 'application/json', charset: undefined };

/** Reads the header of an answer. */
export function readContentType(header = ''): ContentType {
  if (header === JSON_TYPE.name) return JSON_TYPE; // what most answers are
  const [name = '', ...parameters] = header
    .slice(0, MAX_LENGTH)
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const given = { name, charset: charset?.replaceAll('"', '') };
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(name)) return { ...given, is: 'unknown' };
  if (/\/json$|\+json$/.test(name)) return { ...given, is: 'json' };
  if (TEXTS.test(name)) return { ...given, is: 'text' };
  if (name.startsWith('image/')) return { ...given, is: 'image' };
  return { ...given, is: name.startsWith('audio/') ? 'audio' : 'bytes' };
}

/** The text of an answer in its own character set, as far as that is known. */
export function bodyText(bytes: Buffer, { charset }: ContentType): string {
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return decodeUtf8(bytes);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return decodeUtf8(bytes);
  }
}

function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
