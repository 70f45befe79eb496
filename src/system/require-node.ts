import { ToolcribError } from '../core/tool-error.ts';

const OLDEST = [22, 18] as const;

/** Throws a clear error on an old Node version. */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new ToolcribError(
    'node_too_old',
    `Toolcrib requires Node ${OLDEST.join('.')} or newer; this is Node ${version}.`,
  );
}

requireNode(process.versions.node); // runs on import, before anything else can fail
