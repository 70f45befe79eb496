// The licences of packages whose code lies in files of ours, as their authors wrote them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Notices for the packages of these paths of modules; `where` names the files that contain their code. */
export function thirdPartyNotices(paths: Iterable<string>, where: string): string {
  const folders = [...paths].flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const begin = `Code of these packages is part of the files in ${where}.\n`;
  return [begin, ...[...new Set(folders)].toSorted().map(noticeOf)].join(`\n${'-'.repeat(80)}\n\n`);
}

function noticeOf(folder: string): string {
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>; // of npm
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
  const texts = files.toSorted().map((name) => readFileSync(join(folder, name), 'utf8').trim());
  if (files.length === 0) texts.push(withoutFile(about, folder));
  return `${about.name} ${about.version} (${about.license})\n\n${texts.join('\n\n')}\n`;
}

/** Some packages name the MIT licence and their author in package.json alone. */
function withoutFile({ license, author }: Record<string, unknown>, folder: string): string {
  const name = typeof author === 'string' ? author : (author as { readonly name?: string } | undefined)?.name;
  if (license === 'Unlicense') return 'In the public domain.';
  if (license === 'MIT' && name !== undefined) return `MIT License\n\nCopyright (c) ${name}\n\n${MIT}`;
  throw new Error(`${folder} is bundled and has neither a licence file nor the MIT licence with an author.`);
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
