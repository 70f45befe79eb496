import { quoteForShell } from '../../parts/call-command.ts';

/** A call to be copied. */
export interface SnippetCall {
  readonly tool: string;
  readonly argumentsText: string;
  readonly profile: string | undefined;
  /** The address of the server. */
  readonly origin: string;
}

/** A call in the words of a door: what an agent, a program or a person would send. */
export interface Snippet {
  readonly name: string;
  readonly text: string;
}

/** The same call for every door. Credentials are never written: each names where they belong. */
export function toSnippets(call: SnippetCall): readonly Snippet[] {
  return [
    { name: 'curl', text: toCurl(call) },
    { name: 'TypeScript', text: toTypeScript(call) },
    { name: 'Command line', text: toCommandLine(call) },
    { name: 'MCP', text: toMcp(call) },
  ];
}

function bodyOf({ argumentsText, profile }: SnippetCall): string {
  const chosen = profile === undefined ? '' : `, "profile": ${JSON.stringify(profile)}`;
  return `{ "arguments": ${argumentsText}${chosen} }`;
}

function toCurl(call: SnippetCall): string {
  const address = `${call.origin}/api/tools/execute/${encodeURIComponent(call.tool)}`;
  return [
    `curl ${quoteForShell(address)} \\`,
    `  -H "Authorization: Bearer $TOOLCRIB_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quoteForShell(bodyOf(call))}`,
  ].join('\n');
}

function toTypeScript({ tool, argumentsText, profile }: SnippetCall): string {
  const open = profile === undefined ? 'crib.open()' : `crib.open(${JSON.stringify(profile)})`;
  return [
    "import { createCrib } from 'toolcrib';",
    '',
    "const crib = await createCrib({ configFile: 'toolcrib.yaml' });",
    `const chest = await ${open};`,
    `const result = await chest.call(${JSON.stringify(tool)}, ${argumentsText});`,
    'if (!result.ok) throw new Error(result.error.message);',
    'console.log(result.data ?? result.content);',
  ].join('\n');
}

function toCommandLine({ tool, argumentsText, profile }: SnippetCall): string {
  const chosen = profile === undefined ? '' : ` --profile ${quoteForShell(profile)}`;
  return `toolcrib call ${quoteForShell(tool)}${chosen} --args ${quoteForShell(argumentsText)}`;
}

function toMcp({ tool, argumentsText }: SnippetCall): string {
  const name = JSON.stringify(tool);
  return `{ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": ${name}, "arguments": ${argumentsText} } }`;
}
