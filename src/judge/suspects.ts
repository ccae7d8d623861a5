import type { Suspect } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { isTestPath } from './paths.ts';
import { isSameFile, type Place, placesOf } from './places.ts';
import { type FoundFile, type RepositoryFacts, repositoryFactsOf, repositoryPathOf, type Touch, touchesOf } from './repository-facts.ts';
import { retrievedFrom } from './retrieved.ts';
import { seenElsewhere } from './seen-elsewhere.ts';
import { type SuspectSignals, suspectScore } from './suspect-score.ts';
import { manifestOf } from './tool-arguments.ts';

const MAX_SUSPECTS = 10;
/** What a file is worth to which nothing leads but this. Each further one of its kind is worth a little less. */
const LED_BY: Readonly<Record<FoundFile['by'], number>> = { asked: 0, log: 0.55, import: 0.4, step: 0.45, manifest: 0.4 };
const LED_REASON: Readonly<Record<FoundFile['by'], string>> = {
  asked: '',
  log: 'the log names it',
  import: 'the failing test imports it',
  step: 'defines the failed step',
  manifest: "declares the project's dependencies",
};
const GUESSED_MANIFEST = 0.3;
const FADE = 0.92;
/** A place that is as sure as this gains nothing by an import. */
const IMPORTED_MOST = 0.9;
/** A change this near to the named line counts as a change of it: a fault often shows in the line below. */
const NEAR_LINES = 3;
const DAY_MS = 86_400_000;
/** Changed with every change, and never a cause that a person looks for. */
const NO_CODE = /\.(?:md|rst|txt|snap|svg|png|jpe?g|gif|lock)$|(?:^|\/)(?:package-lock\.json|go\.sum|CHANGELOG[\w.]{0,10})$/i;

/** A file with all that speaks for it. */
interface Candidate {
  readonly place: Place;
  readonly isImported: boolean;
}

/**
 * Files that may hold the fault, ranked by the log (own frames, deepest cause, the test's twin and what it imports) and, where the tools
 * have read the repository, by what changed since the last green build, how fresh the named line is, and what mended this failure before.
 * Names the commit, its author and its pull request where one of them touched the file.
 */
export function suspectsOf(subject: TriageSubject, evidence: readonly Evidence[], category: Category): Suspect[] {
  if (category === 'INFRA_ERROR') return [];
  const facts = repositoryFactsOf(evidence);
  const isElsewhere = seenElsewhere(subject, evidence)?.isSure === true;
  const candidates = candidatesOf(subject, inRepository(placesOf(subject), facts), facts, category).filter(({ place }) =>
    isSuspect(place, category),
  );
  const ranked = candidates.map(({ place, isImported }): Suspect => {
    const path = repositoryPathOf(place.path, facts);
    const touch = touchFor(path, place.line, facts);
    const signals = signalsOf({ ...place, path }, isImported, facts, subject, evidence, isElsewhere);
    const { commit = null, author = null, pullRequest = null } = touch ?? {};
    const named = { path, line: place.line ?? lineOf(touch), commit, author, ...(pullRequest === null ? {} : { pullRequest }) };
    return { ...named, score: suspectScore(signals), reason: reasonOf(place.reason, signals) };
  });
  const led = ranked.filter(({ score }) => score > 0);
  return led.sort((left, right) => right.score - left.score).slice(0, MAX_SUSPECTS);
}

/** Places under their paths in the repository, as far as these were looked up; without those that no file has. */
function inRepository(places: readonly Place[], { found, missing }: RepositoryFacts): Place[] {
  return places.flatMap((place) => {
    if (missing.includes(place.path)) return [];
    const fitting = found.filter(({ by, as }) => by === 'asked' && as === place.path);
    return fitting.length === 0 ? [place] : fitting.map(({ path }) => ({ ...place, path }));
  });
}

/** What the log names, what it and the test lead to, and what changed or was mended before though nothing names it. */
function candidatesOf(subject: TriageSubject, places: readonly Place[], facts: RepositoryFacts, category: Category): Candidate[] {
  const imported = facts.found.filter(({ by }) => by === 'import').map(({ path }) => path);
  const isImported = (path: string) => imported.some((one) => isSameFile(one, path));
  const known = places.map((place) => ({ place, isImported: place.score < IMPORTED_MOST && isImported(place.path) }));
  const isKnown = (path: string) => known.some(({ place }) => isSameFile(place.path, path));
  const add = (place: Place) => {
    if (!isKnown(place.path)) known.push({ place, isImported: false });
  };
  const ranks = new Map<string, number>();
  for (const { path, line, by } of facts.found) {
    const rank = ranks.get(by) ?? 0;
    ranks.set(by, rank + 1);
    const from = by === 'import' ? ('test' as const) : ('frame' as const);
    if (by !== 'asked' && (category === 'DEPENDENCY_ERROR' || !NO_CODE.test(path)))
      add({ path, line, from, score: LED_BY[by] * FADE ** rank, reason: LED_REASON[by] });
  }
  const manifest = category === 'DEPENDENCY_ERROR' && facts.found.length === 0 ? manifestOf(subject) : null;
  if (manifest !== null && !known.some(({ place }) => place.path.endsWith(manifest)))
    add({
      path: manifest,
      line: null,
      from: 'frame',
      score: GUESSED_MANIFEST,
      reason: 'usually declares the dependencies of such a project; the log names no file',
    });
  for (const path of [...(facts.changed?.paths ?? []), ...facts.mended])
    if (category === 'DEPENDENCY_ERROR' || !NO_CODE.test(path)) add({ path, line: null, from: 'frame', score: 0, reason: '' });
  return known;
}

/** For set-up and dependencies only files that a tool or a trace names, or that changed: what a test's name hints at is no cause of these. */
function isSuspect({ from }: Place, category: Category): boolean {
  return from !== 'test' || category === 'CODE_ERROR' || category === 'TEST_FAILURE';
}

function signalsOf(
  place: Place,
  isImported: boolean,
  facts: RepositoryFacts,
  subject: TriageSubject,
  evidence: readonly Evidence[],
  isElsewhere: boolean,
): SuspectSignals {
  const { changed } = facts;
  const isChanged = changed?.paths.some((path) => isSameFile(path, place.path)) ?? false;
  const since = touchesOf(place.path, facts).filter(({ tool }) => tool === 'changed_since_green');
  // A test that changed is changed for its own sake as often as not.
  const counts = isChanged && !(isTestPath(place.path) && place.score === 0);
  return {
    log: place.score,
    changedSinceGreen: changed === null ? null : counts ? true : changed.isWhole && !isChanged ? false : null,
    changedFiles: changed?.count ?? 0,
    sinceGreen: changed?.sinceGreen ?? true,
    changedLines: place.line !== null && since.some((touch) => isNear(touch, place.line)),
    blameDays: blameDays(place, facts, subject),
    mendedBefore: facts.mended.some((path) => isSameFile(path, place.path)) || isNamedByFix(place.path, evidence),
    imported: isImported,
    seenElsewhere: isElsewhere,
  };
}

/** The commit that is to be named for a file: of its very line, else since the last green build, else its newest. */
function touchFor(path: string, line: number | null, facts: RepositoryFacts): Touch | null {
  const touches = touchesOf(path, facts).filter(({ commit, tool }) => commit !== null && tool !== 'read_past_fixes');
  const since = touches.filter(({ tool }) => tool === 'changed_since_green');
  const blamed = touches.filter(({ tool }) => tool === 'read_blame');
  return (
    since.find((touch) => isNear(touch, line)) ??
    blamed.find((touch) => line !== null && touch.lines.some(([from, to]) => from <= line && line <= to)) ??
    since[0] ??
    blamed[0] ??
    touches[0] ??
    null
  );
}

/** Where a file is suspected for its change alone, the change is where to look. */
function lineOf(touch: Touch | null): number | null {
  return touch?.tool === 'changed_since_green' ? (touch.lines[0]?.[0] ?? null) : null;
}

function isNear({ lines }: Touch, line: number | null): boolean {
  return line !== null && lines.some(([from, to]) => from - NEAR_LINES <= line && line <= to + NEAR_LINES);
}

function blameDays({ path, line }: Place, facts: RepositoryFacts, { build }: TriageSubject): number | null {
  const built = Date.parse(build.startedAt ?? build.finishedAt ?? build.receivedAt);
  const blamed = touchesOf(path, facts).filter(({ tool, at }) => tool === 'read_blame' && at !== null);
  const named = blamed.find(({ lines }) => line !== null && lines.some(([from, to]) => from <= line && line <= to)) ?? blamed[0];
  const at = Date.parse(named?.at ?? '');
  return Number.isNaN(at) || Number.isNaN(built) ? null : Math.max(0, (built - at) / DAY_MS);
}

/** A person's fix for an earlier failure like this one names the file. */
function isNamedByFix(path: string, evidence: readonly Evidence[]): boolean {
  const name = path.split('/').at(-1) ?? path;
  return retrievedFrom(evidence).some(({ confirmedBy, fix, rootCause }) => {
    const words = `${fix ?? ''} ${rootCause ?? ''}`.split(/[\s"'`(),;:#]+/).map((word) => (word.endsWith('.') ? word.slice(0, -1) : word));
    return confirmedBy !== null && words.some((word) => word === name || word.endsWith(`/${name}`));
  });
}

function reasonOf(named: string, signals: SuspectSignals): string {
  const more = [
    signals.changedLines ? 'these lines are part of this change' : null,
    signals.changedSinceGreen === true && !signals.changedLines ? 'part of this change' : null,
    signals.mendedBefore ? 'changed when this failure was fixed before' : null,
    signals.imported ? 'the failing test imports it' : null,
  ];
  const reasons = [named, ...more].filter((one): one is string => one !== null && one !== '');
  return [...new Set(reasons)].join('; ');
}
