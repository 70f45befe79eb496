const HEAD = `# yaml-language-server: $schema=./node_modules/toolcrib/schema/toolcrib.schema.json
#
# Toolcrib: which tools there are, and who may use them how.
# "toolcrib check" says whether this file makes sense, "toolcrib list" shows the tools.

# Where tools come from. Relative paths start in the folder of this file.
sources:
  # Modules that export tools (defineTool), one folder of them:
  # mine: { modules: ./tools }
  # Tools described in YAML or JSON:
  # described: { files: ./specs }
  # Tools kept in the store and edited by "toolcrib specs":
  # stored: { database: true, kinds: [http] }
`;

const NO_SERVERS = `
# MCP servers: the block of an mcp.json can be pasted here as it is.
# mcpServers:
#   files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."] }
`;

const TAIL = `
# Tools that belong together: shown, found and set up together. Every source makes one of its own name.
bundles:
  # reading:
  #   description: Look, but do not touch
  #   include: ["tag:read", { readOnly: true }]

# What one kind of caller may use.
defaultProfile: default
profiles:
  default:
    # include: ["source:mine", "tag:read"]   # absent: all tools
    exclude: []
    # approve: ["*_delete_*"]                # a person is asked before these run
    # policy: { maxTimeoutMs: 60000 }

# Guards. Destructive tools ask a person first; "cautious" asks for all that are not known to be read-only.
extensions:
  approval: { mode: dangerous }

# Commands (tools of kind shell). A command that declares a sandbox never runs without one, unless you write "preferred".
# executors:
#   shell: { sandbox: required, roots: [./workspace] }   # roots: the only folders that commands may write

# Credentials: read when they are used, sent to their own hosts only, never shown.
# secrets:
#   github: { env: GITHUB_TOKEN, hosts: ["api.github.com"] }
`;

/** A commented configuration to start from, with the servers of an mcp.json where there are some. */
export function starterConfig(servers: Readonly<Record<string, unknown>>): string {
  if (Object.keys(servers).length === 0) return `${HEAD}${NO_SERVERS}${TAIL}`;
  return `${HEAD}\n# MCP servers, as they stood in the mcp.json.\nmcpServers:${toYaml(servers, '  ')}\n${TAIL}`;
}

// Maps as blocks, everything else as JSON, which is YAML, too.
function toYaml(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ` ${JSON.stringify(value)}`;
  const members = Object.entries(value);
  if (members.length === 0) return ' {}';
  return members.map(([key, member]) => `\n${indent}${toKey(key)}:${toYaml(member, `${indent}  `)}`).join('');
}

function toKey(key: string): string {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(key) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(key);
  return isPlain ? key : JSON.stringify(key);
}
