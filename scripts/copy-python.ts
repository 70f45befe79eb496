// The Python side of the package: tsc leaves it where it is.
import { cpSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const [, , out = join(root, 'dist')] = process.argv;
cpSync(join(root, 'src/kinds/python'), join(out, 'kinds/python'), {
  recursive: true,
  filter: (path) => !/\.ts$|__pycache__/.test(path),
});
