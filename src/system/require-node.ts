import { ToolcribError } from '../core/tool-error.ts';

const OLDEST = [22, 18] as const;

/** Throws one clear sentence instead of whatever an old Node would stumble over. */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new ToolcribError('node_too_old', `Toolcrib needs Node ${OLDEST.join('.')} or newer; this is ${version}.`);
}

requireNode(process.versions.node); // whoever imports this first is told before anything else can go wrong
