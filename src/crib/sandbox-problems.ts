import type { Config } from './config/config.ts';

/** What is wrong where the configuration wants every command in a sandbox, and this machine has none. */
export async function findSandboxProblems(
  { executors }: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  if (executors?.shell?.sandbox !== 'required') return [];
  const { findSandbox } = await import('../runtime/shell/sandbox.ts');
  const found = await findSandbox(env.PATH);
  if (found.ok) return [];
  return [`No command can be run: executors.shell requires a sandbox, and there is none here: ${found.reason}.`];
}
