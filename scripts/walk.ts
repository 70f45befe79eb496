// How many files of src a reader opens to follow one path through the code: npm run -s walk -- call|approval|search|reload|start
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countFolderChanges } from './walk/count-folder-changes.ts';
import { createRecorder } from './walk/record-files.ts';
import { SCENARIOS } from './walk/scenarios.ts';

const SRC = join(import.meta.dirname, '../src');
const EXPLANATION = `
A file counts when one of its functions ran on the main thread between the two marks; the path has run once before, so
code that only loads modules or fills caches does not count. A change of folder: the files are read depth-first along
their imports, from the first file on; each file that is reached from a file of another folder is one change, and so is
each file that no import of the others leads to (it was handed in).
`;

const [, , name = ''] = process.argv;
const scenario = SCENARIOS[name];
if (scenario === undefined) {
  process.stderr.write(`walk takes one of ${Object.keys(SCENARIOS).join(', ')}.\n`);
  process.exit(2);
}

setInterval(() => {}, 1000); // watching alone does not keep the process alive
const recorder = await createRecorder(SRC);
const files = await scenario.walk(recorder.filesRunBy);
const rows = files.map((file) => ({ file, lines: readFileSync(join(SRC, file), 'utf8').split('\n').length - 1 }));
for (const { file, lines } of rows) process.stdout.write(`${String(lines).padStart(5)}  ${file}\n`);
const lines = rows.reduce((sum, row) => sum + row.lines, 0);
const folders = new Set(files.map((file) => file.slice(0, file.lastIndexOf('/') + 1))).size;
const changes = countFolderChanges(SRC, files, scenario.entry);
process.stdout.write(`\n${scenario.says}\n`);
process.stdout.write(
  `${files.length} files, ${lines} lines, ${folders} folders, ${changes} folder changes\n${EXPLANATION}`,
);
process.exit(0);
