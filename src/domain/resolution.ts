import type { Failure } from './failure.ts';
import { type FileRole, findFileRole } from './file-role.ts';
import type { ChangedPath, Outcome, Resolution, ResolutionKind } from './outcome.ts';
import { findSilencing, type Silencing } from './silenced-checks.ts';

/** The fix of a failure, and the conclusions from it. */
export interface AssessedResolution {
  readonly resolution: Resolution;
  /** The roles of the files that fixed it, without documents. */
  readonly roles: ReadonlySet<FileRole>;
  /** True if the failure names a changed file, or a name in the changed lines of a file that is not code. */
  readonly isLinked: boolean;
  /** True if the change touches a folder in which the failure names a file. */
  readonly isNear: boolean;
}

/** The maximum number of files of a change that proves a fix. A larger change may have fixed anything. */
const MAX_FIXING_FILES = 10;
const [MAX_FILES, MAX_COMMITS] = [20, 5];
/** The maximum number of characters of a failure in which file names are searched for. */
const MAX_TEXT = 20_000;

/** Determines how a failure was fixed, and what casts doubt on that. */
export function assessResolution(
  outcome: Outcome,
  failures: readonly Failure[],
  suspects: readonly string[],
): AssessedResolution {
  const { red, green, times, change } = outcome;
  const files = (change?.files ?? []).filter((file) => findFileRole(file) !== 'document');
  const texts = failures.map(describeFailure);
  const named = files.filter((file) => suspects.includes(file.path) || isNamed(file, texts));
  // A file that only another failure of the build names fixed that other failure.
  const rest = files.filter((file) => named.includes(file) || !isNamed(file, outcome.others));
  const fixingFiles = chooseOwn(named, rest);
  const places = failures.flatMap(({ test, frames }) =>
    frames
      .filter((entry) => entry.own)
      .map((entry) => entry.file)
      .concat(test?.file ?? []),
  );
  const folders = new Set(places.concat(suspects).map(findFolder));
  const isNear = fixingFiles.some(({ path }) => folders.has(findFolder(path)));
  const documents = (change?.files ?? []).filter((file) => findFileRole(file) === 'document');
  const isDocumented = documents.some((file) => isNamed(file, texts));
  const kind = isDocumented && fixingFiles.length === 0 ? 'change' : findKind(outcome, fixingFiles);
  const commits = (change?.commits ?? []).slice(0, MAX_COMMITS);
  return {
    roles: new Set(fixingFiles.map(findFileRole)),
    isLinked: named.length > 0,
    isNear,
    resolution: {
      kind,
      red,
      green,
      times,
      files: fixingFiles.slice(0, MAX_FILES).map(({ path }) => path),
      commits,
      isRevert: commits.some(({ subject }) => /^revert\b/i.test(subject)),
      doubt: findDoubt(outcome, kind, fixingFiles, { isLinked: named.length > 0, isNear }),
    },
  };
}

/**
 * Chooses the files that fixed a failure: the changed files that it names, or all files if it names none or
 * only tests.
 */
function chooseOwn(named: readonly ChangedPath[], rest: readonly ChangedPath[]): readonly ChangedPath[] {
  const isTest = (file: ChangedPath) => findFileRole(file) === 'test';
  return named.some((file) => !isTest(file)) ? named : rest;
}

function findFolder(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function findKind(
  { red, green, isRebuiltPullRequest, change }: Outcome,
  fixingFiles: readonly ChangedPath[],
): ResolutionKind {
  if (red.commit !== null && red.commit === green.commit) return isRebuiltPullRequest ? 'base' : 'rerun';
  if (change === null) return 'unknown';
  return fixingFiles.length === 0 && !change.truncated ? 'nothing' : 'change';
}

/** Finds a doubt about the proof. The text follows "because". */
function findDoubt(
  outcome: Outcome,
  kind: ResolutionKind,
  fixingFiles: readonly ChangedPath[],
  { isLinked, isNear }: Pick<AssessedResolution, 'isLinked' | 'isNear'>,
): string | null {
  const { tests, change, clocksDisagree } = outcome;
  if (clocksDisagree) return 'the clocks of the two builds disagree about which came first';
  if (tests.includes('skipped')) return 'green because the test was skipped';
  if (tests.includes('failed')) return 'the test failed again in the passed build, which allows that';
  if (tests.includes('absent')) return 'the test did not run in the passed build';
  if (kind === 'unknown') return 'the change between the two builds could not be read';
  if (kind === 'base') return 'the target branch moved, so that another state was built';
  if (kind !== 'change') return null;
  // A test that is reported as passed was neither skipped nor removed.
  const isProven = tests.length > 0 && tests.every((entry) => entry === 'passed');
  const silencing = findSilencing(fixingFiles);
  if (silencing !== null && !(isProven && (silencing === 'skipped' || silencing === 'removed')))
    return `green because ${SILENCED[silencing]}`;
  if (change?.truncated === true) return 'the change is too large to be read';
  if (fixingFiles.length > MAX_FIXING_FILES) return `the change touches ${fixingFiles.length} files`;
  if (isLinked) return null;
  if (change?.commits.some(isMerge) === true) return 'the change merges others into the branch';
  return change?.isRewritten === true && !isNear ? 'the branch was rewritten' : null;
}

/** Tells whether a commit merges another branch. */
export function isMerge({ subject }: Pick<Resolution['commits'][number], 'subject'>): boolean {
  return MERGE.test(subject);
}

const MERGE = /^Merge (?:branch|remote-tracking branch|pull request|tag|commit) /;

const SILENCED: Readonly<Record<Silencing, string>> = {
  skipped: 'the test was skipped',
  removed: 'the test was removed',
  'assertion removed': 'an assertion was removed',
  suppressed: 'the check was told to be silent',
  'allowed to fail': 'the job may fail now',
};

/** Returns everything that a failure names as one text. */
export function describeFailure({ message, test, frames, excerpt }: Failure): string {
  const places = frames.filter(({ own }) => own).map(({ file }) => file);
  const all = [message, test?.file, test?.name, test?.suite, test?.message, ...places, excerpt?.text];
  return all
    .filter((part) => part != null)
    .join('\n')
    .slice(0, MAX_TEXT);
}

/** The minimum length of a name. Shorter names occur in a text by chance. */
const SHORTEST = 5;

/**
 * Tells whether a text names a file. For files other than code, tests and documents, a name in the changed
 * lines suffices.
 */
function isNamed(file: ChangedPath, texts: readonly string[]): boolean {
  const { path, previousPath, patch } = file;
  const paths = [path, previousPath].filter((entry) => entry !== null);
  const names = paths.map((entry) => entry.slice(entry.lastIndexOf('/') + 1)).filter(isDistinctiveName);
  if (texts.some((text) => [...paths, ...names].some((name) => hasWord(text, name)))) return true;
  const role = findFileRole(file);
  if (patch === null || role === 'code' || role === 'test' || role === 'document') return false;
  const words = new Set(
    patch
      .slice(0, MAX_TEXT)
      .match(/^[+-](?![+-]).*/gm)
      ?.flatMap(listWords),
  );
  return [...words].some((word) => texts.some((text) => hasWord(text, word)));
}

function isDistinctiveName(name: string): boolean {
  return name.length >= SHORTEST && !/^(?:index|main|mod|lib|__init__|setup|test|tests|app)\.\w+$/.test(name);
}

/** Lists the words of a changed line that are names, not common words of logs. */
function listWords(line: string): string[] {
  const words = line.slice(0, 400).match(/@?[A-Za-z][\w./@-]{2,60}[A-Za-z\d]/g) ?? [];
  return words.filter((word) => word.length >= SHORTEST && !COMMON.has(word.toLowerCase()));
}

const COMMON: ReadonlySet<string> = new Set(
  [
    'version install error failed build tests script scripts latest ubuntu package require required steps',
    'dependencies devdependencies python python3 false default resolved integrity runs-on ubuntu-latest',
    'release https command',
  ].flatMap((words) => words.split(' ')),
);

/** Tells whether a text contains a name that is not part of a longer one. */
function hasWord(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + name.length] ?? ' '];
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}
