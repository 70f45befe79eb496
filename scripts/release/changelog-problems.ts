/** Why a version cannot be released with this changelog, in sentences. Its section needs a date only to be published. */
export function changelogProblems(changelog: string, version: string, aim: 'try' | 'publish'): readonly string[] {
  const sections = changelog.split(/^## /m).slice(1);
  const own = sections.find((section) => section.startsWith(`${version} `) || section.startsWith(`${version}\n`));
  if (own === undefined) return [`CHANGELOG.md has no section "## ${version}". Add it, or correct the version.`];
  if (aim === 'try') return [];
  const unreleased = sections.find((section) => section.startsWith('Unreleased'));
  return [
    ...(/^\S+ \(\d{4}-\d\d-\d\d\)\n/.test(own)
      ? []
      : [`"## ${version}" in CHANGELOG.md has no date. Write "## ${version} (YYYY-MM-DD)".`]),
    ...(/^- /m.test(unreleased ?? '')
      ? [`CHANGELOG.md has lines under "Unreleased". Move them to "## ${version}".`]
      : []),
  ];
}
