import { type ConfigSpot, inside, report } from '../../config/read-by-schema.ts';
import { isRecord } from '../../core/json.ts';
import { sourceKeys } from './source-schema.ts';

/** Keys by which an entry is told to be an MCP server, though it does not say so. */
const SERVER_KEYS = ['url', 'serverUrl', 'httpUrl', 'command'];

/** Reports an entry of `sources` that lacks the key of its kind, with its cure, where it is clear what was meant. True if it did. */
export function reportSlip(name: string, value: unknown, spot: ConfigSpot): boolean {
  if (typeof value === 'string') return reportText(name, value, spot);
  if (!isRecord(value)) return false;
  if (Object.hasOwn(value, 'mcp')) return reportServerSlip(value.mcp, inside(spot, 'mcp'));
  const key = SERVER_KEYS.find((candidate) => Object.hasOwn(value, candidate));
  if (key === undefined || sourceKeys.some((kind) => Object.hasOwn(value, kind))) return false;
  const short = key === 'command' ? 'command' : 'url';
  const cure = `write ${name}: { mcp: { ${short}: ... } }, or move the entry under mcpServers.`;
  report(spot, `has "${key}" but not "mcp": ${cure}`, 'key');
  return true;
}

/** The same for an MCP server: an address or a command line instead of a map, or a command line as its program. True if it did. */
export function reportServerSlip(server: unknown, spot: ConfigSpot): boolean {
  if (typeof server === 'string') {
    const shape = isAddress(server) ? '{ url: ... }' : '{ command: ..., args: [...] }';
    report(spot, `must be a map: write ${shape}.`);
    return true;
  }
  const command = isRecord(server) ? server.command : undefined;
  const inCommand = inside(spot, 'command');
  if (Array.isArray(command)) report(inCommand, 'is the program alone: write its arguments as a list under args.');
  else if (isCommandLine(command)) {
    const [program] = command.trim().split(/\s/);
    report(
      inCommand,
      `is a command line, and no shell reads it: write command: ${program}, and its arguments as a list under args.`,
    );
  } else return false;
  return true;
}

function reportText(name: string, value: string, spot: ConfigSpot): true {
  const cure = isAddress(value)
    ? `write ${name}: { mcp: { url: ... } } for an MCP server, { openapi: ... } for the description of an API, or { http: ... } for a list of specs.`
    : `write ${name}: { mcp: { command: ..., args: [...] } } for an MCP server, or { files: ... }, { modules: ... } or { python: ... } for tools in files.`;
  report(spot, `must be a map that says what is there: ${cure}`);
  return true;
}

function isAddress(text: string): boolean {
  return /^(https?|wss?):\/\//i.test(text.trim());
}

/** A program and words after it. The path of a program may have spaces in it; a name that is looked up has none. */
function isCommandLine(command: unknown): command is string {
  return typeof command === 'string' && /^\s*[^\s/\\$]+\s+\S/.test(command);
}
