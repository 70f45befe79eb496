import { type ConfigSpot, inside, report } from '../../config/read-by-schema.ts';
import { isRecord } from '../../core/json.ts';
import { sourceKeys } from './source-schema.ts';

/** Keys that show that an entry without `mcp` is an MCP server. */
const SERVER_KEYS = ['url', 'serverUrl', 'httpUrl', 'command'];

/** Reports an entry of `sources` that lacks the key of its kind, and the fix, if the intention is clear. Returns true if it reported. */
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

/** Reports an MCP server written as a URL or a command line instead of a map, or with a command line as its program. Returns true if it reported. */
export function reportServerSlip(server: unknown, spot: ConfigSpot): boolean {
  if (typeof server === 'string') {
    const shape = isAddress(server) ? '{ url: ... }' : '{ command: ..., args: [...] }';
    report(spot, `must be a map: write ${shape}.`);
    return true;
  }
  const command = isRecord(server) ? server.command : undefined;
  const inCommand = inside(spot, 'command');
  if (Array.isArray(command)) report(inCommand, 'must be only the program; write its arguments as a list under args.');
  else if (isCommandLine(command)) {
    const [program] = command.trim().split(/\s/);
    report(
      inCommand,
      `is a command line, but no shell runs it: write command: ${program}, and its arguments as a list under args.`,
    );
  } else return false;
  return true;
}

function reportText(name: string, value: string, spot: ConfigSpot): true {
  const cure = isAddress(value)
    ? `write ${name}: { mcp: { url: ... } } for an MCP server, { openapi: ... } for an OpenAPI document, or { http: ... } for a list of specs.`
    : `write ${name}: { mcp: { command: ..., args: [...] } } for an MCP server, or { files: ... }, { modules: ... } or { python: ... } for tools in files.`;
  report(spot, `must be a map that names the kind of source: ${cure}`);
  return true;
}

function isAddress(text: string): boolean {
  return /^(https?|wss?):\/\//i.test(text.trim());
}

/** True for a bare program name followed by arguments. A path may contain spaces, so it does not count. */
function isCommandLine(command: unknown): command is string {
  return typeof command === 'string' && /^\s*[^\s/\\$]+\s+\S/.test(command);
}
