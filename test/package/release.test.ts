import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { changelogProblems } from '../../scripts/release/changelog-problems.ts';
import { ROOT, run } from './install-packed.ts';

const release = (...words: string[]) => run(process.execPath, [join(ROOT, 'scripts/release.ts'), ...words]);

describe('a release', () => {
  it('is described in the changelog under its version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(changelogProblems(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version, 'try')).toEqual([]);
    expect(changelogProblems('# Changelog\n\n## 0.1.10\n', '0.1.1', 'try')).toEqual([
      'CHANGELOG.md has no section "## 0.1.1". Add it, or correct the version.',
    ]);
  });

  it('is published only with a date, and with nothing left under Unreleased', () => {
    const good = '# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n### Added\n\n- A thing.\n';
    expect(changelogProblems(good, '0.2.0', 'publish')).toEqual([]);
    const bad = good
      .replace('(2026-12-01)', '(unreleased)')
      .replace('## Unreleased\n', '## Unreleased\n\n- A thing.\n');
    expect(changelogProblems(bad, '0.2.0', 'try')).toEqual([]);
    expect(changelogProblems(bad, '0.2.0', 'publish')).toEqual([
      '"## 0.2.0" in CHANGELOG.md has no date. Write "## 0.2.0 (YYYY-MM-DD)".',
      'CHANGELOG.md has lines under "Unreleased". Move them to "## 0.2.0".',
    ]);
  });

  it('does not begin with an unknown option', async () => {
    await expect(release('--pubish')).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('release takes --offline and --publish.'),
    });
  });
});
