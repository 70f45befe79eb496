/** The command that calls a tool, with a word in the place of each required argument: `toolcrib call remove_file path=PATH`. */
export function toCallCommand(tool: string, schema: Readonly<Record<string, unknown>>): string {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = required.filter((name): name is string => typeof name === 'string');
  return ['toolcrib call', ...[tool, ...names.map((name) => `${name}=${name.toUpperCase()}`)].map(quoteForShell)].join(
    ' ',
  );
}

/** A word for a shell, so that no value becomes a command: names come from other programs. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
