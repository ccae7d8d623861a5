import { z } from 'zod';
import type { Analysis, Suspect } from './analysis.ts';
import type { Build } from './build.ts';
import { type Category, getKindRow, hasTrait, isUnstable } from './category.ts';
import type { Experiment } from './experiment.ts';
import type { Failure } from './failure.ts';
import type { FailureHistory } from './failure-history.ts';
import { findTouchedSuspects } from './review.ts';
import { advisePin, findExplaining, formatVersionChange, type VersionChanges } from './version-changes.ts';
import type { Whose, WhoseAct, WhoseProof } from './whose.ts';

export interface WhoseFacts {
  readonly build: Build;
  readonly analysis: Analysis;
  /** The category in force. A person's decision takes precedence over the analysis. */
  readonly category: Category;
  /** The failures that the answer explains. */
  readonly failures: readonly Failure[];
  readonly history: FailureHistory;
}

/**
 * The age from which on a failure that is gone from the default branch excuses no change, in milliseconds.
 */
const EXCUSE_MS = 2 * 24 * 3_600_000;
/** The minimum number of other pull requests. A single one may be based on this one. */
const ENOUGH_PULL_REQUESTS = 2;
/** The minimum probability of a judgement. It is high, because a wrong excuse is the worst mistake. */
const MIN_PROBABLE = 0.9;
/** The number of consecutive failures from which on a rerun does not help. */
const LASTING = 3;

/**
 * Decides whose a failure is. It uses, in this order: an experiment, a later run of the same commit, the
 * versions of an earlier run of that commit, the default branch, a new major version that is unrelated to the
 * change, the failing step, other pull requests, and earlier flakes. The verdict is `unknown` if none of them
 * proves it. An excuse that history suggests is not given if the change touches what failed, or if the
 * failure was first seen here.
 */
export function judgeWhose(facts: WhoseFacts): Whose {
  const { analysis, history } = facts;
  const { experiment } = analysis;
  const found =
    experiment !== undefined
      ? judgeByTrying(experiment, history)
      : (judgeByRerun(facts) ??
        judgeByVersions(analysis) ??
        judgeByIncident(facts) ??
        judgeByDefaultBranch(facts) ??
        judgeApart(facts) ??
        judgeMachine(facts) ??
        judgeByPullRequests(facts) ??
        judgeFlaky(facts) ??
        judgeNew(facts) ??
        leaveOpen(facts));
  return {
    isDefault: history.isDefault,
    ...found,
    act: chooseAct(found, analysis, history, findTouched(facts)),
  };
}

/**
 * Decides whose a failure is without history: by the experiment, or by the versions that changed. Returns
 * null if neither decides it.
 */
export function judgeWithoutHistory(analysis: Analysis): Whose | null {
  const { experiment } = analysis;
  const found = experiment === undefined ? judgeByVersions(analysis) : judgeByTrying(experiment, null);
  if (found === null) return null;
  const suspect = analysis.answer.suspects.find(({ path }) => listChangedFiles(analysis).has(path));
  const act = chooseAct(found, analysis, null, suspect);
  return { isDefault: false, ...found, act };
}

type Found = Pick<Whose, 'verdict' | 'probability' | 'proof'>;

/**
 * Judges by an experiment. It takes precedence over history, because it ran the same command on one machine,
 * with and without the change.
 */
function judgeByTrying({ verdict, sentence, arms }: Experiment, history: FailureHistory | null): Found {
  const proof: WhoseProof[] = [{ what: 'tried', sentence }];
  const isFlakyOnBase = arms.some(
    ({ where, passed, failed }) => where === 'base' && passed > 0 && failed > 0,
  );
  if (verdict === 'this-change') return { verdict: 'change', probability: null, proof };
  if (verdict === 'flaky' && isFlakyOnBase) return { verdict: 'flaky', probability: null, proof };
  if (verdict !== 'not-this-change') return { verdict: 'unknown', probability: null, proof };
  const main = history === null ? [] : proveByMain(history);
  return { verdict: 'main', probability: null, proof: proof.concat(main) };
}

/**
 * Judges by a later run of the same commit. A test that only this change has may be flaky from its first run
 * on; then it is the change's failure as well.
 */
function judgeByRerun({ category, history: { passedAgain, test } }: WhoseFacts): Found | null {
  if (passedAgain === null) return null;
  const again: WhoseProof[] = [{ what: 'passed-again', build: passedAgain }];
  const isNew: WhoseProof[] = [{ what: 'new-test' }];
  if (test?.isNew === true) return { verdict: 'change', probability: null, proof: isNew.concat(again) };
  const proof = again.concat(countFlakes(test));
  return { verdict: category === 'INFRA_ERROR' ? 'machine' : 'flaky', probability: null, proof };
}

/**
 * Judges by the versions that a green run of the same commit had. If the failure's own lines concern a
 * version that changed, the commit did not cause it.
 */
function judgeByVersions({ changes }: Analysis): Found | null {
  return changes?.isSameCommit === true ? blameVersion(changes, null) : null;
}

/**
 * Judges by the versions of a green run of another commit. The failure must name a new major version, and the
 * change must neither set up the job nor touch anything in the path of the failure.
 */
function judgeApart(facts: WhoseFacts): Found | null {
  const { changes } = facts.analysis;
  const changed = [...listChangedFiles(facts.analysis)];
  const isApart = isWholeChangeKnown(facts.analysis) && !changed.some(isSetup) && !reachesFailure(facts);
  return changes !== undefined && isApart ? blameVersion(changes, PROBABLE.version) : null;
}

function blameVersion(changes: VersionChanges, probability: number | null): Found | null {
  const { since, isSameCommit } = changes;
  const explaining = findExplaining(changes);
  if (explaining === null) return null;
  const change = formatVersionChange(explaining);
  const proof: WhoseProof[] = [{ what: 'version', change, since: since?.number ?? null, isSameCommit }];
  return { verdict: 'environment', probability, proof };
}

/**
 * The minimum number of other repositories that could not reach a host within minutes, for an external
 * incident.
 */
const MANY_REPOSITORIES = 3;

/**
 * Judges by the repositories that could not reach the same host at that time, whatever the change touches.
 */
function judgeByIncident({ category, analysis: { kind }, history: { incident } }: WhoseFacts): Found | null {
  if (incident === undefined || incident.repositories < MANY_REPOSITORIES) return null;
  if (category !== 'INFRA_ERROR' || !hasTrait(kind, 'clear')) return null;
  return { verdict: 'machine', probability: null, proof: [{ what: 'incident', ...incident }] };
}

function judgeByDefaultBranch(facts: WhoseFacts): Found | null {
  const { build, history } = facts;
  const { defaultBranch: main, generic, own, isDefault, test } = history;
  if (main === null) return null;
  const first = main.since ?? main.lastFailed;
  // If it was here first, it came from here, or from outside of both.
  if (first === null || (!isDefault && own.firstAt < first.receivedAt)) return null;
  if (main.since !== null) {
    const flaky = main.times < LASTING ? judgeFlaky(facts) : null;
    if (flaky !== null) return flaky;
    if (generic && (test === null || main.times < 2)) return null;
    return { verdict: 'main', probability: null, proof: proveByMain(history) };
  }
  const age = Date.parse(build.receivedAt) - Date.parse(first.receivedAt);
  // The person who broke it and reverted that may break it again.
  const isAnothers = first.author !== null && build.author !== null && first.author !== build.author;
  if (isDefault || generic || age > EXCUSE_MS || main.fixedBy === null || !isAnothers) return null;
  const flaky = judgeFlaky(facts);
  if (flaky !== null) return flaky;
  return reachesFailure(facts)
    ? null
    : { verdict: 'main', probability: PROBABLE.fixedOnMain, proof: proveByMain(history) };
}

/** The estimated shares of right verdicts. `scripts/bench whose` measures how often they are right. */
const PROBABLE = {
  fixedOnMain: 0.9,
  step: 0.95,
  others: 0.95,
  touched: 0.98,
  first: 0.95,
  version: 0.95,
} as const;

function proveByMain({ defaultBranch: main }: FailureHistory): WhoseProof[] {
  if (main === null) return [];
  const { name: branch, since, times, lastFailed } = main;
  if (since !== null) return [{ what: 'fails-on', branch, since, times }];
  return lastFailed === null ? [] : [{ what: 'failed-on', branch, build: lastFailed }];
}

/**
 * Judges by the failing step, if it names a machine or a service itself. In a test, the failed call may be
 * the change's own, so others must have had the failure, and no file of the change may be near it. The change
 * may have introduced the service that did not answer, so its files must be known.
 */
function judgeMachine(facts: WhoseFacts): Found | null {
  const { category, analysis, failures, history } = facts;
  if (category !== 'INFRA_ERROR' || !hasTrait(analysis.kind, 'clear')) return null;
  if (analysis.classification.confidence < MIN_PROBABLE && !history.seenElsewhere) return null;
  const isTest = failures.some(({ test }) => test !== null);
  if (reachesFailure(facts) || (isTest && !history.seenElsewhere)) return null;
  const changed = [...listChangedFiles(analysis)];
  const mayNameService = !history.isDefault && getKindRow(analysis.kind).group === 'connection or service';
  if (!history.seenElsewhere && (changed.some(isSetup) || (mayNameService && !isWholeChangeKnown(analysis))))
    return null;
  const proof: WhoseProof[] = [{ what: 'log' }];
  return { verdict: 'machine', probability: PROBABLE.step, proof: proof.concat(countPullRequests(history)) };
}

/**
 * Tells whether a file sets up the job. These are hidden files, manifests, lock files, and all configuration.
 */
function isSetup(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.startsWith('.') || /^(?:Dockerfile|Makefile)/.test(name) || SETUP.test(name);
}

const SETUP = /\.(?:ya?ml|toml|ini|cfg|conf|json|xml|lock|gradle|kts|tf|env|txt)$/;

/**
 * Judges by the people who had the failure before it was seen here. A message without a test is too often
 * similar by chance.
 */
function judgeByPullRequests(facts: WhoseFacts): Found | null {
  const { category, failures, history } = facts;
  const { generic, isDefault, otherPullRequests } = history;
  if (isDefault || otherPullRequests < ENOUGH_PULL_REQUESTS || generic) return null;
  // If several people had the same message in the same test, it is not chance, whatever this change touches.
  const areTests = failures.every(({ test }) => test !== null);
  const isOutside = category === 'INFRA_ERROR' || category === 'DEPENDENCY_ERROR';
  if (!areTests && (!isOutside || reachesFailure(facts))) return null;
  const proof = countPullRequests(history);
  return judgeFlaky(facts) ?? { verdict: 'others', probability: PROBABLE.others, proof };
}

/**
 * The assumed share of changes that break a given test. It is far above the usual one, so that no excuse is
 * given too early.
 */
const BREAKS = 0.02;
/** The assumed share of these that fail with the same message with which the test flaked before. */
const IN_SAME_WORDS = 0.25;

/**
 * Judges by Bayes' rule between two explanations: the test flaked with its known rate each time in a row, or
 * the change broke it with the same message. Flakes with other messages prove nothing.
 */
function judgeFlaky(facts: WhoseFacts): Found | null {
  const { test, own, generic } = facts.history;
  if (test === null || test.alike === 0 || test.isNew || reachesFailure(facts)) return null;
  const flaked = ((test.alike + 0.5) / (test.runs + 1)) ** own.times;
  const probability = flaked / (flaked + BREAKS * (generic ? 1 : IN_SAME_WORDS));
  if (probability < MIN_PROBABLE) return null;
  return { verdict: 'flaky', probability: roundShare(probability), proof: countFlakes(test) };
}

/**
 * Judges whether the failure is new: it passes on the default branch, or passed here in the previous build,
 * and was not seen elsewhere. Flaky tests and services fail now and then, so no change is blamed for them.
 */
function judgeNew(facts: WhoseFacts): Found | null {
  const { category, analysis, history } = facts;
  const { generic, seenElsewhere, own, test, defaultBranch: main } = history;
  if (seenElsewhere || category === 'INFRA_ERROR' || isUnstable(analysis.kind)) return null;
  const isTouched = findTouched(facts) !== undefined;
  if (category === 'DEPENDENCY_ERROR' && !isTouched) return null;
  // If the change is known and touches nothing near the failure, this may be the first flake.
  if (listChangedFiles(analysis).size > 0 && test?.isNew !== true && !reachesFailure(facts)) return null;
  if ((test?.flakes ?? 0) > 0) return null;
  // A message that says only how a test ended proves nothing alone. The change must touch a suspect.
  if (generic && own.times < 2 && test?.isNew !== true && !isTouched) return null;
  const proof: WhoseProof[] = test?.isNew === true ? [{ what: 'new-test' }] : [];
  if (main !== null && (main.status === 'passed' || test?.passedOnDefault === true))
    proof.push({ what: 'passes-on', branch: main.name, build: main.newest });
  else if (own.passed !== null) proof.push({ what: 'passed-before', build: own.passed });
  if (proof.length === 0) return null;
  const probability = isTouched || test?.isNew === true ? PROBABLE.touched : PROBABLE.first;
  return { verdict: 'change', probability, proof };
}

function leaveOpen({ history, analysis }: WhoseFacts): Found {
  const { defaultBranch: main, test, seenElsewhere } = history;
  const named = findNamedCommit(analysis);
  const known = named.concat(proveByMain(history), countPullRequests(history), countFlakes(test));
  const passes: WhoseProof[] =
    known.length === 0 && !seenElsewhere && main?.status === 'passed'
      ? [{ what: 'passes-on', branch: main.name, build: main.newest }]
      : [];
  return { verdict: 'unknown', probability: null, proof: known.concat(passes) };
}

function countPullRequests({ otherPullRequests: count }: FailureHistory): WhoseProof[] {
  return count === 0 ? [] : [{ what: 'pull-requests', count }];
}

function countFlakes(test: FailureHistory['test']): WhoseProof[] {
  return test === null || test.flakes === 0 ? [] : [{ what: 'flakes', flakes: test.flakes, runs: test.runs }];
}

function chooseAct(
  { verdict, proof }: Found,
  { changes, answer }: Analysis,
  history: FailureHistory | null,
  suspect: Suspect | undefined,
): WhoseAct {
  const main = history?.defaultBranch ?? null;
  const times = history?.own.times ?? 1;
  const explaining = findExplaining(changes);
  switch (verdict) {
    case 'environment':
      return explaining === null ? { what: 'try' } : { what: 'pin', advice: advisePin(explaining) };
    case 'change':
      return { what: 'fix', path: suspect?.path ?? null, line: suspect?.line ?? null };
    case 'main':
      if (history?.isDefault === true && main !== null)
        return { what: 'look', at: main.since ?? main.newest };
      return { what: 'rebase', branch: main?.name ?? null, on: main?.fixedBy ?? null };
    case 'unknown': {
      const [named] = proof.some(({ what }) => what === 'named') ? answer.suspects : [];
      if (named !== undefined && history?.isDefault === true)
        return { what: 'fix', path: named.path, line: named.line };
      if (named !== undefined) return { what: 'contains' };
      if (times >= LASTING) return { what: 'ask', times };
      return history !== null && isFirstBuild(history) ? { what: 'first' } : { what: 'try' };
    }
    default:
      if (history !== null && history.passedAgain !== null) return { what: 'nothing' };
      return times >= LASTING ? { what: 'ask', times } : { what: 'rerun' };
  }
}

/** Checks whether no earlier build is known, neither of this branch nor of the default one. */
function isFirstBuild({ own, defaultBranch, seenElsewhere, test }: FailureHistory): boolean {
  const isNewHere = own.passed === null && own.times <= 1 && (test?.runs ?? 0) <= 1;
  return isNewHere && defaultBranch === null && !seenElsewhere;
}

/** Finds the commit that the answer's text names as the cause: that of its first suspect. */
function findNamedCommit({ answer: { rootCause, suspects } }: Analysis): WhoseProof[] {
  const [suspect] = suspects;
  const commit = suspect?.commit ?? null;
  if (suspect === undefined || commit === null || !rootCause.includes(commit.slice(0, NAMED_CHARACTERS)))
    return [];
  return [{ what: 'named', commit, author: suspect.author }];
}

/** The minimum number of characters by which a text names a commit. */
const NAMED_CHARACTERS = 7;

/** Finds the first suspect that the change touches. */
function findTouched({ build, analysis }: WhoseFacts): Suspect | undefined {
  const touched = new Set(findTouchedSuspects(build, analysis));
  const changed = listChangedFiles(analysis);
  return analysis.answer.suspects.find(({ path }) => touched.has(path) || changed.has(path));
}

/** Tells whether the change touches a suspect, the failed test, or a place in the path of the failure. */
function reachesFailure(facts: WhoseFacts): boolean {
  if (findTouched(facts) !== undefined) return true;
  const changed = [...listChangedFiles(facts.analysis)];
  const named = facts.failures.flatMap(({ test, frames }) =>
    frames.map(({ file }) => file).concat(test?.file ?? []),
  );
  return named.some((file) => changed.some((path) => file === path || file.endsWith(`/${path}`)));
}

const Changed = z.object({
  files: z.array(z.string()),
  fileCount: z.int().optional(),
  truncated: z.boolean().default(false),
  sinceGreen: z.boolean().default(true),
});

/** Reads the lists of files that changed since the last passing build. */
function readChanges({ evidence }: Analysis): z.infer<typeof Changed>[] {
  return evidence
    .filter(({ tool }) => tool === 'changed_since_green')
    .flatMap(({ data }) => Changed.safeParse(data).data ?? []);
}

/**
 * Checks whether every file of the change is known. A list that was cut, or that describes only the last
 * commit because no passing build is known, may lack the file that matters.
 */
function isWholeChangeKnown(analysis: Analysis): boolean {
  const lists = readChanges(analysis).filter(({ files }) => files.length > 0);
  return (
    lists.length > 0 &&
    lists.every(
      ({ files, fileCount = files.length, truncated, sinceGreen }) =>
        !truncated && sinceGreen && fileCount === files.length,
    )
  );
}

/** Lists the files that changed since the last passing build, as far as a tool read them. */
function listChangedFiles(analysis: Analysis): ReadonlySet<string> {
  return new Set(readChanges(analysis).flatMap(({ files }) => files));
}

function roundShare(share: number): number {
  return Math.round(share * 100) / 100;
}
