import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';

/** A folder for a store, and all that its tables hold, as text. */
export function createStoreFolder(): { readonly folder: string; texts(): string } {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-context-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return {
    folder,
    texts() {
      const database = new DatabaseSync(join(folder, 'crib.db'), { readOnly: true });
      try {
        const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
        return JSON.stringify(
          tables.map(({ name }) => [name, database.prepare(`SELECT * FROM "${String(name)}"`).all()]),
        );
      } finally {
        database.close();
      }
    },
  };
}
