import type { Suspect } from '../domain/analysis.ts';
import type { Category } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { FoundFile } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import {
  changesCodeNear,
  collectFailureWords,
  explainsFailure,
  isChangedAt,
  isNear,
  listNearChanges,
  rateTouch,
  shareWords,
} from './changes.ts';
import { findManifest } from './clues.ts';
import {
  findSeenElsewhere,
  listRetrieved,
  listTouches,
  type RepositoryFacts,
  readRepositoryFacts,
  resolveRepositoryPath,
  type Touch,
} from './evidence-facts.ts';
import { altersCode } from './line-changes.ts';
import { isTestPath } from './paths.ts';
import { isSameFile, type Place, rankPlaces } from './places.ts';

const MAX_SUSPECTS = 10;
/**
 * The scores of files that only this kind of clue leads to. Each further file of the same kind scores
 * slightly less.
 */
const LED_BY: Readonly<Record<FoundFile['by'], number>> = {
  asked: 0,
  log: 0.55,
  import: 0.4,
  step: 0.45,
  manifest: 0.4,
};
const LED_REASON: Readonly<Record<FoundFile['by'], string>> = {
  asked: '',
  log: 'the log names it',
  import: 'the failing test imports it',
  step: 'defines the failed step',
  manifest: "declares the project's dependencies",
};
const GUESSED_MANIFEST = 0.3;
const FADE = 0.92;
/** The maximum score of a place that an import may raise. */
const IMPORTED_MOST = 0.9;
const DAY_MS = 86_400_000;
/** Files that most changes touch, and that are never the cause. */
const NO_CODE =
  /\.(?:md|rst|txt|snap|svg|png|jpe?g|gif|lock)$|(?:^|\/)(?:package-lock\.json|go\.sum|CHANGELOG[\w.]{0,10})$/i;

/**
 * Lists files that may contain the fault. They are ranked by the log (own frames, deepest cause, the test's
 * twin and its imports) and, if tools have read the repository, by what changed since the last passing build,
 * how recently the named line changed, and what fixed this failure before. Names the commit, its author, and
 * its pull request if one of them touched the file.
 */
export function rankSuspects(
  subject: TriageSubject,
  evidence: readonly Evidence[],
  category: Category,
): Suspect[] {
  if (category === 'INFRA_ERROR') return [];
  const facts = readRepositoryFacts(evidence);
  const words = collectFailureWords(subject);
  const isElsewhere = findSeenElsewhere(subject, evidence)?.isSure === true;
  const candidates = listCandidates(
    subject,
    toRepositoryPlaces(rankPlaces(subject), facts),
    facts,
    category,
  ).filter(({ place }) => isSuspect(place, category));
  const ranked = candidates.map(({ place, isImported }): Suspect => {
    const path = resolveRepositoryPath(place.path, facts);
    const touch = chooseTouch(path, place.line, facts, words, subject);
    const known = { facts, subject, evidence, isElsewhere, words };
    const signals = collectSignals({ ...place, path }, isImported, known);
    const { commit = null, author = null, pullRequest = null } = touch ?? {};
    const named = {
      path,
      line: place.line ?? findChangedLine(touch),
      commit,
      author,
      ...(pullRequest === null ? {} : { pullRequest }),
    };
    return { ...named, score: computeSuspectScore(signals), reason: formatReason(place.reason, signals) };
  });
  const led = ranked.filter(({ score }) => score > 0);
  return led.sort((left, right) => right.score - left.score).slice(0, MAX_SUSPECTS);
}

/**
 * Converts places to paths in the repository, as far as these were looked up. Places that do not exist in the
 * repository are left out.
 */
function toRepositoryPlaces(places: readonly Place[], { found, missing }: RepositoryFacts): Place[] {
  return places.flatMap((place) => {
    if (missing.includes(place.path)) return [];
    const fitting = found.filter(({ by, as }) => by === 'asked' && as === place.path);
    return fitting.length === 0 ? [place] : fitting.map(({ path }) => ({ ...place, path }));
  });
}

/**
 * Lists the files that the log names, the files that the log and the test lead to, and other files that
 * changed or were part of an earlier fix.
 */
function listCandidates(
  subject: TriageSubject,
  places: readonly Place[],
  facts: RepositoryFacts,
  category: Category,
) {
  const imported = facts.found.filter(({ by }) => by === 'import').map(({ path }) => path);
  const isImported = (path: string) => imported.some((file) => isSameFile(file, path));
  const known = places.map((place) => ({
    place,
    isImported: place.score < IMPORTED_MOST && isImported(place.path),
  }));
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
  const manifest = category === 'DEPENDENCY_ERROR' && facts.found.length === 0 ? findManifest(subject) : null;
  if (manifest !== null && !known.some(({ place }) => place.path.endsWith(manifest)))
    add({
      path: manifest,
      line: null,
      from: 'frame',
      score: GUESSED_MANIFEST,
      reason: 'usually declares the dependencies of such a project; the log names no file',
    });
  for (const path of [...(facts.changed?.paths ?? []), ...facts.fixingFiles])
    if (category === 'DEPENDENCY_ERROR' || !NO_CODE.test(path))
      add({ path, line: null, from: 'frame', score: 0, reason: '' });
  return known;
}

/**
 * Checks whether a file can be a suspect of the category. For set-up and dependency errors, only files that a
 * tool or trace names, or that changed, can be. The name of a test is no clue to such a cause.
 */
function isSuspect({ from }: Place, category: Category): boolean {
  return from !== 'test' || category === 'CODE_ERROR' || category === 'TEST_FAILURE';
}

interface Known {
  readonly facts: RepositoryFacts;
  readonly subject: TriageSubject;
  readonly evidence: readonly Evidence[];
  readonly isElsewhere: boolean;
  readonly words: ReadonlySet<string>;
}

function collectSignals(
  place: Place,
  isImported: boolean,
  { facts, subject, evidence, isElsewhere, words }: Known,
): SuspectSignals {
  const { changed } = facts;
  const isChanged = changed?.paths.some((path) => isSameFile(path, place.path)) ?? false;
  const since = listSince(place.path, facts);
  const others = facts.touches.filter((touch) => !isSameFile(touch.path, place.path));
  const changes = since.flatMap((touch) => touch.changes);
  const changedLines = since.some((touch) => changesCodeNear(touch, place.line));
  // A changed test often changed for its own sake.
  const counts = isChanged && !(isTestPath(place.path) && place.score === 0);
  return {
    log: place.score,
    changedSinceGreen: changed === null ? null : counts ? true : changed.isWhole && !isChanged ? false : null,
    changedFiles: changed?.count ?? 0,
    sinceGreen: changed?.sinceGreen ?? true,
    onlyAdds: changes.length > 0 && !changes.some(altersCode) && !changedLines && !hasNewTest(facts, subject),
    sharedWords: shareWords(changes, words),
    stillUsed: since.some((touch) => touch.stillUsed.length > 0 || explainsFailure(touch, subject)),
    explainedElsewhere: others.some((touch) => explainsFailure(touch, subject)),
    changedLines,
    blameDays: blameDays(place, facts, subject),
    fixedBefore:
      facts.fixingFiles.some((path) => isSameFile(path, place.path)) || isNamedByFix(place.path, evidence),
    imported: isImported,
    seenElsewhere: isElsewhere,
  };
}

/** Lists the commits since the last passing build that touched a file. */
function listSince(path: string, facts: RepositoryFacts): readonly Touch[] {
  return listTouches(path, facts).filter(({ tool }) => tool === 'changed_since_green');
}

/**
 * Chooses the commit to name for a file. Among commits since the last passing build, it is the one whose
 * changes are most likely the fault. Otherwise, a commit that removed or replaced code near the line takes
 * precedence over the authors of the remaining lines; then comes the commit of the exact line, and then the
 * newest one.
 */
export function chooseTouch(
  path: string,
  line: number | null,
  facts: RepositoryFacts,
  words: ReadonlySet<string>,
  subject: TriageSubject,
): Touch | null {
  const touches = listTouches(path, facts).filter(
    ({ commit, tool }) => commit !== null && tool !== 'read_past_fixes',
  );
  const since = touches.filter(({ tool }) => tool === 'changed_since_green');
  const blamed = touches.filter(({ tool }) => tool === 'read_blame');
  const [best] = since
    .map((touch) => ({ touch, rate: rateTouch(touch, line, words, subject) }))
    .toSorted((left, right) => right.rate - left.rate);
  const isWhole = facts.changed?.sinceGreen === true;
  if (best !== undefined && (isWhole || isNear(best.touch, line))) return best.touch;
  const exact = blamed.find((touch) => isChangedAt(touch, line));
  return (
    blamed.find(({ removes }) => removes) ??
    findAlteration(blamed, exact, line) ??
    exact ??
    best?.touch ??
    blamed[0] ??
    touches[0] ??
    null
  );
}

/** Finds the newest commit that changed code near the line after the line was written. */
function findAlteration(blamed: readonly Touch[], exact: Touch | undefined, line: number | null) {
  const time = ({ at }: Pick<Touch, 'at'>) => Date.parse(at ?? '') || 0;
  const written = exact === undefined ? 0 : time(exact);
  const altering = blamed.filter(
    (touch) => time(touch) >= written && listNearChanges(touch, line).some(altersCode),
  );
  return altering.toSorted((left, right) => time(right) - time(left))[0];
}

/**
 * Returns the changed line of a file that changed since the last passing build. It is the line to look at if
 * only the change makes the file suspicious.
 */
function findChangedLine(touch: Touch | null): number | null {
  if (touch?.tool !== 'changed_since_green') return null;
  return touch.changes.find(altersCode)?.newLine ?? touch.lines[0]?.[0] ?? null;
}

function blameDays({ path, line }: Place, facts: RepositoryFacts, { build }: TriageSubject): number | null {
  const built = Date.parse(build.startedAt ?? build.finishedAt ?? build.receivedAt);
  const blamed = listTouches(path, facts).filter(({ tool, at }) => tool === 'read_blame' && at !== null);
  const named =
    blamed.find(({ lines }) => line !== null && lines.some(([from, to]) => from <= line && line <= to)) ??
    blamed[0];
  const at = Date.parse(named?.at ?? '');
  return Number.isNaN(at) || Number.isNaN(built) ? null : Math.max(0, (built - at) / DAY_MS);
}

/** Checks whether the failing test changed since the last passing build, so that new code may be at fault. */
function hasNewTest(facts: RepositoryFacts, { failingTests, failures }: TriageSubject): boolean {
  const frames = failures.flatMap((failure) => failure.frames).map(({ file, line }) => ({ file, line }));
  const named = failingTests.flatMap(({ file, line }) => (file === null ? [] : [{ file, line }]));
  return [...named, ...frames]
    .filter(({ file }) => isTestPath(file))
    .some(({ file, line }) => listSince(file, facts).some((touch) => isChangedAt(touch, line)));
}

/** Checks whether a person's fix of a similar earlier failure names the file. */
function isNamedByFix(path: string, evidence: readonly Evidence[]): boolean {
  const name = path.split('/').at(-1) ?? path;
  return listRetrieved(evidence).some(({ confirmedBy, fix, rootCause }) => {
    const words = `${fix ?? ''} ${rootCause ?? ''}`
      .split(/[\s"'`(),;:#]+/)
      .map((word) => (word.endsWith('.') ? word.slice(0, -1) : word));
    return confirmedBy !== null && words.some((word) => word === name || word.endsWith(`/${name}`));
  });
}

function formatReason(named: string, signals: SuspectSignals): string {
  const more = [
    signals.changedLines ? 'these lines are part of this change' : null,
    signals.changedSinceGreen === true && !signals.changedLines ? 'part of this change' : null,
    signals.stillUsed ? 'it took away what the failure misses' : null,
    signals.fixedBefore ? 'changed when this failure was fixed before' : null,
    signals.imported ? 'the failing test imports it' : null,
  ];
  const reasons = [named, ...more].filter((reason): reason is string => reason !== null && reason !== '');
  return [...new Set(reasons)].join('; ');
}

/**
 * The weights of the signals for a file in addition to the log. Each is the share of the remaining doubt that
 * the signal removes. Signals are treated as independent, so the score is 1 − (1 − log) · Π (1 − weight ·
 * strength). The weights are estimates, because no set of failures with their repositories' history was
 * available to fit them; a test checks the order that each signal produces.
 */
export const WEIGHTS = {
  /** The file changed since the last passing build. The weight is divided among the files that did. */
  changedSinceGreen: 0.5,
  /** The built commit changed the file, and it is unknown whether the commit before passed. */
  changedInCommit: 0.25,
  /** The exact lines that the trace or compiler names changed since then. */
  changedLines: 0.6,
  /**
   * The code that changed since then has words in common with the failing test, its message or its functions.
   */
  sharedWords: 0.3,
  /** A name that other lines still use was removed since then. */
  stillUsed: 0.7,
  /** The named line was last changed shortly before the build. */
  recentBlame: 0.3,
  /** The file was changed when the same failure was fixed before, or a person's fix for it names the file. */
  fixedBefore: 0.35,
  /** The failing test imports it. */
  imported: 0.15,
} as const;

/**
 * The factor for a file that is missing in a complete list of changed files, to which lines were only added,
 * or that only uses what another file removed: unchanged code worked before.
 */
export const UNCHANGED = 0.8;
/**
 * The maximum number of changed files that all get the full weight. If there are more, the weight decreases
 * with the fourth root of their number.
 */
const FEW_FILES = 5;
/** The number of days after which a change is half as suspicious. */
const HALF_LIFE_DAYS = 14;
const MOST = 0.99;

/** The signals for one file. */
export interface SuspectSignals {
  /**
   * The strength with which the log points to it (own frames, deepest cause, twin of the test, diagnostics),
   * 0..1; 0 if the log does not name it.
   */
  readonly log: number;
  /**
   * True if the file changed since the last passing build. Null if that is unknown, or if the list is
   * incomplete and does not name the file.
   */
  readonly changedSinceGreen: boolean | null;
  /** False if only the built commit's own change is known. The commit before may have failed, too. */
  readonly sinceGreen: boolean;
  /** The number of files that changed since then. */
  readonly changedFiles: number;
  readonly changedLines: boolean;
  /** True if the patches of the file only add lines elsewhere, and the failing test is not new. */
  readonly onlyAdds: boolean;
  /** The share of the failure's words that the changed code contains, 0..1. */
  readonly sharedWords: number;
  /** True if the changes removed a name that other lines still use. */
  readonly stillUsed: boolean;
  /** True if a change of another file removed what the failure misses. */
  readonly explainedElsewhere: boolean;
  /**
   * The age of the last change of the named line at the time of the build, in days. Null if no tool checked
   * it.
   */
  readonly blameDays: number | null;
  readonly fixedBefore: boolean;
  readonly imported: boolean;
  /** True if the same failure occurred without this change. Then the changes say little. */
  readonly seenElsewhere: boolean;
}

/** Returns how suspicious a file is, 0..0.99, rounded to hundredths. */
export function computeSuspectScore(signals: SuspectSignals): number {
  const trust = signals.seenElsewhere ? 0.2 : 1;
  const thinned = Math.min(1, (FEW_FILES / Math.max(1, signals.changedFiles)) ** 0.25);
  const isChanged = signals.changedSinceGreen === true && !signals.onlyAdds;
  const ofChange = signals.sinceGreen ? WEIGHTS.changedSinceGreen : WEIGHTS.changedInCommit;
  const doubts = [
    1 - signals.log,
    1 - (isChanged ? ofChange * thinned * trust : 0),
    1 - (isChanged ? WEIGHTS.sharedWords * signals.sharedWords * trust : 0),
    1 - (isChanged && signals.stillUsed ? WEIGHTS.stillUsed * trust : 0),
    1 - (signals.changedLines ? WEIGHTS.changedLines * trust : 0),
    1 - WEIGHTS.recentBlame * computeFreshness(signals.blameDays) * trust,
    1 - (signals.fixedBefore ? WEIGHTS.fixedBefore : 0),
    1 - (signals.imported ? WEIGHTS.imported : 0),
  ];
  const score = 1 - doubts.reduce((left, doubt) => left * doubt, 1);
  const isOld = signals.changedSinceGreen === false || signals.onlyAdds;
  const worked = signals.explainedElsewhere || (isOld && !signals.seenElsewhere);
  return Math.round(Math.min(MOST, Math.max(0, worked ? UNCHANGED * score : score)) * 100) / 100;
}

function computeFreshness(days: number | null): number {
  return days === null ? 0 : 0.5 ** (Math.max(0, days) / HALF_LIFE_DAYS);
}
