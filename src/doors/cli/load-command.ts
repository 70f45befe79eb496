import type { RunCommand } from './commands.ts';

/** The code of each command, read when the command runs. */
const LOADERS: Readonly<Record<string, () => Promise<RunCommand>>> = {
  init: async () => (await import('./commands/write-config.ts')).writeConfig,
  check: async () => (await import('./commands/check-crib.ts')).checkCrib,
  list: async () => (await import('./commands/list-tools.ts')).listTools,
  show: async () => (await import('./commands/show-tool.ts')).showTool,
  explain: async () => (await import('./commands/explain-tool.ts')).explainTool,
  search: async () => (await import('./commands/search-tools.ts')).searchTools,
  eval: async () => (await import('./commands/eval-search.ts')).evalSearch,
  call: async () => (await import('./commands/call-tool.ts')).callTool,
  approvals: async () => (await import('./commands/answer-approvals.ts')).answerApprovals,
  bundles: async () => (await import('./commands/list-bundles.ts')).listBundles,
  profiles: async () => (await import('./commands/list-profiles.ts')).listProfiles,
  sources: async () => (await import('./commands/list-sources.ts')).listSources,
  specs: async () => (await import('./commands/edit-specs.ts')).editSpecs,
  keys: async () => (await import('./commands/edit-keys.ts')).editKeys,
  calls: async () => (await import('./commands/list-calls.ts')).listCalls,
  audit: async () => (await import('./commands/inspect-audit.ts')).inspectAudit,
  serve: async () => (await import('./commands/serve-crib.ts')).serveCrib,
  completion: async () => (await import('./commands/print-completion.ts')).printCompletion,
  help: async () => (await import('./commands/print-help.ts')).printHelp,
  version: async () => (await import('./commands/print-version.ts')).printVersion,
};

/** What runs a command of this version. */
export async function loadCommand(name: string): Promise<RunCommand> {
  const load = LOADERS[name];
  if (load === undefined) throw new Error(`The command "${name}" has no code.`);
  return load();
}
