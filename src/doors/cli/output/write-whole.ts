import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../../../core/tool-error.ts';

/** Writes a file that is there whole or not at all; false if one is there and must stay. Synchronous, so that no signal comes between. */
export function writeWhole(
  file: string,
  content: string,
  { replace, isPrivate }: { readonly replace: boolean; readonly isPrivate: boolean },
): boolean {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: isPrivate ? 0o600 : 0o644 });
    if (replace) renameSync(draft, file);
    else linkSync(draft, file); // unlike a rename it fails where something is
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST' && !replace) return false;
    throw new ToolcribError('usage', `${file} cannot be written: ${messageOf(cause)}.`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
