import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ToolcribError } from '../../src/core/tool-error.ts';
import { loadConfig } from '../../src/crib/config/load-config.ts';
import type { LoadedConfig } from '../../src/crib/config/loaded-config.ts';

/** A folder of its own for one test, holding these files. */
export function writeFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-config-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Loads a text as the toolcrib.yaml of a folder of its own, beside other files. */
export function loadYaml(
  text: string | Uint8Array,
  env: Environment = {},
  others: Readonly<Record<string, string>> = {},
): Promise<LoadedConfig> {
  return loadConfig({ cwd: writeFolder({ 'toolcrib.yaml': text, ...others }), env });
}

/** The message of the configuration error for a text; any other outcome fails the test. */
export async function mistakesIn(text: string | Uint8Array, env: Environment = {}): Promise<string> {
  return messageOf(loadYaml(text, env));
}

/** The words of an error of configuration. */
export async function messageOf(loading: Promise<LoadedConfig>): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ToolcribError) || error.code !== 'invalid_config') {
    throw new Error(`expected an error of configuration, got ${String(error)}`, { cause: error });
  }
  return error.message;
}
