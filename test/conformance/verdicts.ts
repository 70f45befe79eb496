/** Which side of ours a scenario looks at: `server` is the gateway, `client` what reaches servers further up. */
export type Side = 'server' | 'client';

/** One run of one scenario. */
export interface Run {
  readonly side: Side;
  /** The revision that it was run at. */
  readonly era: string;
  readonly scenario: string;
  readonly checks: readonly Check[];
}

/** What a scenario found out. */
export interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** Scenarios, or single checks of them as `scenario:check`, that are known to fail, and why. */
export interface ExpectedFailures {
  readonly reason: string;
  readonly server?: readonly string[];
  readonly client?: readonly string[];
  /** The revision at which they fail; all if absent. */
  readonly era?: string;
}

/** What became of a run. */
export type Verdict =
  | { readonly kind: 'pass' }
  /** `isPart` if only single checks of it are known to fail, and all others pass. */
  | { readonly kind: 'expected'; readonly reasons: readonly string[]; readonly isPart: boolean }
  | { readonly kind: 'unexpected'; readonly why: readonly string[] };

/** Judges a run. Also unexpected is what should fail and does not: then the list is old. */
export function judge(run: Run, expected: readonly ExpectedFailures[]): Verdict {
  const entries = entriesFor(run, expected);
  const bad = run.checks.filter(isBad);
  const isExcused = ({ id }: Check) => entries.some(({ check }) => check === undefined || check === id);
  const why = [
    ...bad.filter((check) => !isExcused(check)).map(({ id, errorMessage }) => `${id}: ${errorMessage ?? 'fails'}`),
    ...entries.filter((entry) => passes(entry, run, bad)).map(staleEntry),
  ];
  if (why.length > 0) return { kind: 'unexpected', why: [...new Set(why)] };
  if (bad.length === 0) return { kind: 'pass' };
  const reasons = [...new Set(entries.map(({ reason }) => reason))];
  return { kind: 'expected', reasons, isPart: entries.every(({ check }) => check !== undefined) };
}

/** Entries of the list that belong to no scenario that was run. */
export function unknownEntries(runs: readonly Run[], expected: readonly ExpectedFailures[]): readonly string[] {
  const used = new Set(runs.flatMap((run) => entriesFor(run, expected).map(({ entry }) => entry)));
  const listed = expected.flatMap(({ server = [], client = [] }) => [...server, ...client]);
  return listed.filter((entry) => !used.has(entry));
}

interface Entry {
  readonly entry: string;
  readonly check: string | undefined;
  readonly reason: string;
}

function entriesFor({ side, era, scenario }: Run, expected: readonly ExpectedFailures[]): readonly Entry[] {
  return expected
    .filter((group) => group.era === undefined || group.era === era)
    .flatMap((group) =>
      (group[side] ?? []).map((entry) => ({
        entry,
        reason: group.reason,
        ...partsOf(entry),
      })),
    )
    .filter((entry) => entry.scenario === scenario);
}

function partsOf(entry: string): { readonly scenario: string; readonly check: string | undefined } {
  const [scenario = '', check] = entry.split(':');
  return { scenario, check };
}

/** A recommendation that is not followed is listed with its reason, too. */
function isBad({ status }: Check): boolean {
  return status === 'FAILURE' || status === 'WARNING';
}

/** A check that was not reached says nothing. */
function passes({ check }: Entry, { checks }: Run, bad: readonly Check[]): boolean {
  if (check === undefined) return bad.length === 0;
  const isThere = checks.some(({ id, status }) => id === check && status !== 'SKIPPED');
  return isThere && !bad.some(({ id }) => id === check);
}

function staleEntry({ entry }: Entry): string {
  return `${entry} is listed as an expected failure and passes; take it from the list`;
}
