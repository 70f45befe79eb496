import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/tool-error.ts';
import { createFolderWatch, type FolderWatch } from '../../system/watch.ts';
import { CONFIG_FILE_NAMES } from '../config/load-config.ts';
import type { SourceSecrets } from './source-secrets.ts';

/** What comes into being beside a configuration and counts: another one, and packages that bring tools. */
const BESIDE = [...CONFIG_FILE_NAMES, 'package.json'];

interface Watching {
  readonly used: SourceSecrets;
  onChange(): void;
  warn(message: string): void;
}

/** Watches the files of a configuration, and those that its sources take secrets and variables from: there others may write, too. */
export function watchConfiguration({ used, onChange, warn }: Watching) {
  const onSecretFile = () => void used.hasChanged().then((hasChanged) => hasChanged && onChange());
  let watched: readonly string[] = [];
  let lastState: string | undefined;
  // Other files lie in the same folders. A log of this process would be an edit by which it grows.
  const onEdit = (): void => {
    const state = stateOf(watched);
    if (state === lastState) return;
    lastState = state;
    onChange();
  };
  const edits = createFolderWatch({ onChange: onEdit, warn });
  const secretEdits = createFolderWatch({ onChange: onSecretFile, warn });
  const follow = (watch: FolderWatch, files: readonly string[]): void => {
    const folders = new Set(files.map((file) => dirname(file)));
    for (const folder of folders) watch.listen(folder);
    watch.keepOnly(folders);
  };
  return {
    listen(files: readonly string[], secretFiles: readonly string[]) {
      watched = [...files, ...files.flatMap((file) => BESIDE.map((name) => join(dirname(file), name)))];
      follow(edits, files);
      follow(secretEdits, secretFiles);
    },
    close() {
      edits.close();
      secretEdits.close();
    },
  };
}

/** Other text after an edit of any of the files. */
function stateOf(files: readonly string[]): string {
  return files.map((file) => [file, stampOf(file)].join()).join('\n');
}

function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join();
  } catch (cause) {
    return messageOf(cause);
  }
}
