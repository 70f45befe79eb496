// Builds and packs the package, installs the tarball in an empty folder, and runs the stories of the README there.
//   npm run release                 npm installs the tarball, with its dependencies from the registry
//   npm run release -- --offline    its dependencies are linked from node_modules; nothing needs the network
//   npm run release -- --publish    and, if all of that went well, npm publishes the tarball
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installTarball, pack, ROOT, run } from '../test/package/install-packed.ts';
import { blocksOf, runBlocks, wrongAmong } from '../test/package/run-page.ts';
import { changelogProblems } from './release/changelog-problems.ts';

const { offline, publish } = readOptions();
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }; // our own
const problems = [
  ...changelogProblems(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version, publish ? 'publish' : 'try'),
  ...(publish ? uncommitted() : []),
];
if (problems.length > 0) end(problems, 1);

say(`Building toolcrib ${version}.`);
execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' });
const tarball = await pack(ROOT, mkdtempSync(join(tmpdir(), 'toolcrib-release-')));
say(`Packed ${tarball}.`);

say('Running the stories of the README in an empty folder.');
const commands = await runBlocks(blocksOf('README.md'), {
  install: (folder) => (offline ? installTarball(tarball, folder) : npmInstall(folder)),
});
const wrong = wrongAmong(commands);
for (const { line, missing, printed, code } of wrong) {
  say(`\n$ ${line}\nends with ${code}, does not print ${JSON.stringify(missing)}, and prints\n${printed}`);
}
if (wrong.length > 0) end([`${wrong.length} of ${commands.length} commands of the README failed.`], 1);
say(`All ${commands.length} commands of the README did what it shows.`);

if (publish) execFileSync('npm', ['publish', tarball], { cwd: ROOT, stdio: 'inherit' });
else say('Nothing was published. To publish: npm run release -- --publish');

function readOptions(): { readonly offline: boolean; readonly publish: boolean } {
  const no = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { offline: no, publish: no } }).values;
  } catch (error) {
    return end([(error as Error).message, 'release takes --offline and --publish.'], 2); // parseArgs throws errors
  }
}

function uncommitted(): readonly string[] {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
  return changes === '' ? [] : [`There are changes that are not committed. Commit them first:\n${changes}`];
}

async function npmInstall(folder: string): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: folder });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function end(sentences: readonly string[], code: number): never {
  process.stderr.write(`${sentences.join('\n')}\n`);
  process.exit(code);
}
