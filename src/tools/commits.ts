import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import type { Category } from '../domain/category.ts';
import type { FailureRow } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { formatVersionChange } from '../domain/version-changes.ts';
import { readChanges } from '../lib/patch-changes.ts';
import { formatCount } from '../lib/text.ts';
import { listRepositoryPaths } from '../log/paths.ts';
import type { ChangedFile, CodeHost, CommitInfo, Comparison } from '../ports/code-host.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { attributeChanges, type CommitDiffs, readDiffs } from './attribute-changes.ts';
import { findLeftUses, type LeftUse, takesAway } from './left-uses.ts';
import {
  type BuiltCode,
  type ChangeFinding,
  changeFinding,
  commitData,
  commitFinding,
  commitTitle,
  defineCodeTool,
  findBuiltCode,
  isRelated,
} from './repository.ts';
import type { Tool } from './tool.ts';

const MAX_LINES = 200;

const CommitHistoryParameters = z
  .strictObject({
    path: z.string().trim().min(1).max(1_024).optional().describe('Only commits that touched this file'),
    lineStart: z
      .int()
      .min(1)
      .optional()
      .describe('Only commits that touched these lines of the file; wants path'),
    lineEnd: z.int().min(1).optional().describe('Last of these lines; at most 200'),
    limit: z.int().min(1).max(20).default(10),
  })
  .refine((args) => args.lineStart === undefined || args.path !== undefined, {
    error: 'lineStart wants the path of a file',
  });
type Args = z.output<typeof CommitHistoryParameters>;

/** Creates the tool that lists the latest commits and the files that they changed. */
export function readCommitHistory(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_commit_history',
    question:
      'Which commits led to this build, newest first, which files did each touch, and which touched ' +
      'these lines?',
    serves: { CODE_ERROR: 6 },
    investigator: 'code',
    asks: 'code host',
    costClass: 'high',
    usualLatencyMs: 800,
    parameters: CommitHistoryParameters,
    keptBy: 'arguments',
    argumentsFrom: ({ places: [first] }) =>
      first === undefined ? { limit: 10 } : { path: first.path, limit: 10 },
    async run(args, context) {
      const code = await findBuiltCode(codeHost, context);
      const located = args.path === undefined ? null : await code.locate(args.path);
      if (located !== null && 'findings' in located) return located.findings;
      const file = located === null ? {} : { path: located.path };
      const commits = await listCommits(code, file, args);
      return commits.map((commit) => commitFinding(commit, code.titled(commitTitle(commit)), file));
    },
  });
}

function listCommits(
  { host, at, signal }: BuiltCode,
  file: { path?: string },
  { lineStart, lineEnd, limit }: Args,
): Promise<CommitInfo[]> {
  if (file.path === undefined || lineStart === undefined)
    return host.history({ ...at, ...file, limit }, signal);
  const last = Math.min(Math.max(lineStart, lineEnd ?? lineStart), lineStart + MAX_LINES - 1);
  return host.lineHistory({ ...at, path: file.path, lineStart, lineEnd: last, limit }, signal);
}

/** Maximum number of files whose patches are shown, in addition to the commit itself. */
const MAX_PATCHES_COMMIT_DIFF = 8;

const CommitDiffParameters = z.strictObject({
  commit: z
    .string()
    .trim()
    .regex(/^[0-9a-fA-F]{7,64}$/, 'a commit id of 7 to 64 hexadecimal digits')
    .optional()
    .describe('Id of the commit; by default the one that was built'),
  path: z.string().trim().min(1).max(1_024).optional().describe('Only what it changed in this file'),
});

/** Creates the tool that shows the changes of a commit. */
export function readCommitDiff(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_commit_diff',
    question: 'What did this commit change, line by line, and in which pull request?',
    serves: { CODE_ERROR: null, CONFIG_ERROR: null, DEPENDENCY_ERROR: null, TEST_FAILURE: null },
    investigator: 'code',
    asks: 'code host',
    costClass: 'medium',
    usualLatencyMs: 700,
    parameters: CommitDiffParameters,
    keptBy: 'failure',
    async run({ commit, path }, { subject, category, signal }): Promise<ChangeFinding[]> {
      const asked = commit ?? subject.build.commit;
      if (asked === null) return [];
      const diff = await codeHost.commitDiff({ repository: subject.build.repository, commit: asked }, signal);
      if (diff === null) return [];
      const allowed = diff.files.filter((file) =>
        path === undefined ? isRelated(file.path, category) : isMeant(file.path, path),
      );
      if (allowed.length === 0) return [];
      const title = commitTitle(diff.commit);
      const paths = allowed.map((file) => file.path);
      const whole = commitFinding(
        { ...diff.commit, files: paths },
        diff.truncated ? `${title} (not all of it)` : title,
      );
      const patches = sortMentionedFirst(allowed, subject).slice(0, MAX_PATCHES_COMMIT_DIFF);
      return [whole, ...patches.map((file) => changeFinding(file, title, commitData(diff.commit)))];
    },
  });
}

function isMeant(path: string, asked: string): boolean {
  return path === asked || path.endsWith(`/${asked}`) || asked.endsWith(`/${path}`);
}

/** The maximum number of earlier failures that are compared with the fix. */
const MAX_FIXES = 2;
const MAX_EARLIER = 20;
/**
 * The maximum number of files between a failed and the next passed build. More do not show which of them was
 * the fix.
 */
const MAX_FILES = 25;
const MAX_COMMITS_PAST_FIXES = 10;

/** Creates the tool that finds out how this failure was fixed before. */
export function readPastFixes(codeHost: CodeHost, history: HistoryStore): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_past_fixes',
    question:
      'When this same failure was fixed before, which files and commits stood between the red build ' +
      'and the green one?',
    serves: { CODE_ERROR: 4, TEST_FAILURE: 1 },
    investigator: 'code',
    asks: 'code host',
    precedence: 5,
    costClass: 'medium',
    usualLatencyMs: 800,
    parameters: z.strictObject({}),
    estimateOutlook: async (subject) => ((await findEarlierFix(history, subject)) === null ? 'poor' : 'good'),
    argumentsFrom: () => ({}),
    async run(_args, { subject, category, signal }): Promise<ChangeFinding[]> {
      const { repository } = subject.build;
      const fix = await findEarlierFix(history, subject);
      if (fix === null) return [];
      const { reds, lastGreen, head } = fix;
      const found = await Promise.all(
        reds.slice(0, MAX_FIXES).map(async (row): Promise<ChangeFinding[]> => {
          const compared = await codeHost.compare({ repository, base: row.commit ?? head, head }, signal);
          const files =
            compared?.files.filter((file) => isRelated(file.path, category)).map(({ path }) => path) ?? [];
          if (compared === null || compared.truncated || files.length === 0 || files.length > MAX_FILES)
            return [];
          const between = `${row.pipeline} #${row.number} (red) and #${lastGreen.number} (green)`;
          const text = [
            ...compared.commits.slice(0, MAX_COMMITS_PAST_FIXES).map(commitTitle),
            '',
            ...files,
          ].join('\n');
          const source = `compare/${row.commit?.slice(0, 10)}...${head.slice(0, 10)}`;
          const title = `${formatCount(files.length, 'file')} changed between ${between}`;
          return [
            { title, text, source, data: { files, fileCount: files.length, buildId: row.failure.buildId } },
          ];
        }),
      );
      return found.flat();
    },
  });
}

/**
 * Finds the earlier builds that had this failure at other commits than the last passing one, and that passing
 * build. Returns null if the failure was never fixed, or is generic.
 */
async function findEarlierFix(history: HistoryStore, { build, fingerprint, generic }: TriageSubject) {
  const { repository, pipeline, branch, id } = build;
  if (generic) return null;
  const { lastGreen } = await history.consecutiveFailures({ repository, pipeline, branch, buildId: id });
  if (lastGreen === null || lastGreen.commit === null) return null;
  const { commit: head } = lastGreen;
  const query = {
    repository,
    fingerprint: fingerprint.value,
    test: null,
    beforeBuildId: id,
    limit: MAX_EARLIER,
  };
  const earlier = (await history.failureHistory(query)).filter((row) => isFixedBy(lastGreen, row));
  const byCommit = new Map(earlier.map((row) => [row.commit, row]));
  const reds = [...byCommit.values()].filter(({ commit }) => commit !== null && commit !== head);
  return reds.length === 0 ? null : { reds, lastGreen, head };
}

/**
 * Checks whether the failure occurred before the passing build, on the same branch. On another branch,
 * something else may have fixed it.
 */
function isFixedBy(green: Build, row: FailureRow): boolean {
  const at = Date.parse(green.finishedAt ?? green.receivedAt);
  return row.branch === green.branch && row.pipeline === green.pipeline && Date.parse(row.seenAt) < at;
}

/** Maximum number of files whose patches are shown, in addition to the list of all files. */
const MAX_PATCHES_CHANGED = 8;
const MAX_COMMITS_CHANGED = 20;
/** The maximum number of paths that are kept as data for the ranking of suspects. */
const MAX_PATHS = 200;

/** The commit from which the comparison starts, and its description. */
interface Base {
  readonly commit: string;
  readonly said: string;
  /** True if the pipeline passed at this commit, or probably did. */
  readonly isGreen: boolean;
}

/** Creates the tool that shows the changes since the last passing build. */
export function createChangedSinceGreen(codeHost: CodeHost, history: HistoryStore): Tool {
  return defineCodeTool(codeHost, {
    name: 'changed_since_green',
    question:
      'Which files, commits, packages, tools and images changed between the last green build and this one?',
    serves: { CODE_ERROR: 1, CONFIG_ERROR: 1, DEPENDENCY_ERROR: 1, TEST_FAILURE: 2, INFRA_ERROR: 9 },
    investigator: 'code',
    asks: 'code host',
    precedence: 4,
    costClass: 'medium',
    usualLatencyMs: 800,
    parameters: z.strictObject({}),
    estimateOutlook: async (subject, signal) => {
      if (subject.changes !== undefined) return 'good';
      if (subject.build.commit === null) return 'poor';
      const base = await findBase(codeHost, history, subject, signal);
      return base === null || base === 'this commit' ? 'poor' : 'good';
    },
    argumentsFrom: ({ subject, category }) =>
      (subject.build.commit === null && subject.changes === undefined) || isNoMatter(subject, category)
        ? null
        : {},
    guard: (_args, { subject, category }) =>
      isNoMatter(subject, category)
        ? 'the code does not matter to what a machine did, unless a pull request may have named the service'
        : null,
    async run(_args, { subject, category, signal }): Promise<ChangeFinding[]> {
      const { repository, commit } = subject.build;
      const versions = listVersionChanges(subject);
      if (commit === null) return versions;
      const base = await findBase(codeHost, history, subject, signal);
      if (base === 'this commit') return versions;
      const compared =
        base === null
          ? null
          : await codeHost.compare({ repository, base: base.commit, head: commit }, signal);
      if (compared !== null && base !== null) {
        const inside = filterByScope(compared, category);
        const [diffs, uses] = await Promise.all([
          readDiffs(codeHost, repository, { ...inside, files: listShown(inside.files, subject) }, signal),
          findLeftUses(codeHost, { repository, ref: commit }, inside.files, signal),
        ]);
        return [...toFindings(inside, base, subject, diffs, uses), ...versions];
      }
      const diff = await codeHost.commitDiff({ repository, commit }, signal);
      if (diff === null) return versions;
      const change = { ...diff, commits: [diff.commit] };
      const found = toFindings(
        filterByScope(change, category),
        { commit, isGreen: false, said: 'that was built; no earlier green build is known' },
        subject,
      );
      return [...found, ...versions];
    },
  });
}

/**
 * Checks whether the code is irrelevant: a machine failed, and there is no pull request whose files must be
 * known to excuse it.
 */
function isNoMatter({ build }: TriageSubject, category: Category | undefined): boolean {
  return category === 'INFRA_ERROR' && build.pullRequest === null;
}

/** Lists the versions that changed since the last green run, which no diff shows. */
function listVersionChanges({ changes }: TriageSubject): ChangeFinding[] {
  if (changes === undefined) return [];
  const green = changes.since === null ? 'the green build' : `build ${changes.since.number}`;
  const title = `${formatCount(changes.changes.length + changes.more, 'version')} changed since ${green}`;
  const text = changes.changes.map(formatVersionChange).join('\n');
  return [{ title, text, source: 'environment' }];
}

/**
 * Returns the commit of the last passing build of this pipeline and branch. If none is known, returns the
 * default branch, because a branch usually starts from a passing commit. Null if neither is available; then
 * only the change of the built commit is known. `this commit` if the built commit itself has passed: nothing
 * changed since.
 */
async function findBase(
  codeHost: CodeHost,
  history: HistoryStore,
  subject: TriageSubject,
  signal: AbortSignal,
): Promise<Base | 'this commit' | null> {
  const { repository, pipeline, branch, id, commit } = subject.build;
  const { lastGreen } = await history.consecutiveFailures({ repository, pipeline, branch, buildId: id });
  if (commit !== null && lastGreen?.commit === commit) return 'this commit';
  if (lastGreen?.commit != null) {
    return {
      commit: lastGreen.commit,
      isGreen: true,
      said: `since the green build ${lastGreen.id === 'green' ? '' : `#${lastGreen.number} `}(${lastGreen.commit.slice(0, 10)})`,
    };
  }
  const { ref } = await codeHost.resolve({ repository, ref: null }, signal);
  if (ref === null || ref === commit) return null;
  return {
    commit: ref,
    isGreen: true,
    said: `that the default branch (${ref.slice(0, 10)}) has not; no green build of this branch is known`,
  };
}

function filterByScope(compared: Comparison, category: Category): Comparison {
  return { ...compared, files: compared.files.filter(({ path }) => isRelated(path, category)) };
}

function toFindings(
  { commits, files, truncated }: Comparison,
  base: Base,
  subject: TriageSubject,
  diffs: CommitDiffs = new Map(),
  uses: readonly LeftUse[] = [],
): ChangeFinding[] {
  if (files.length === 0) return [];
  const summary: ChangeFinding = {
    title:
      `${formatCount(files.length, 'file')} ` +
      `in ${formatCount(commits.length, 'commit')} ${base.said}${truncated ? '; there are more' : ''}`,
    text: [
      ...commits.slice(0, MAX_COMMITS_CHANGED).map(commitTitle),
      '',
      ...files.slice(0, MAX_PATHS).map(formatChange),
    ].join('\n'),
    source: `compare/${base.commit.slice(0, 10)}...${subject.build.commit?.slice(0, 10)}`,
    data: {
      base: base.commit,
      files: files.slice(0, MAX_PATHS).map(({ path }) => path),
      fileCount: files.length,
      truncated,
      sinceGreen: base.isGreen,
    },
  };
  const patches = listShown(files, subject).flatMap((file) => attributeChanges(file, commits, diffs, uses));
  return [
    summary,
    ...patches.slice(0, MAX_PATCHES_CHANGED).map(({ file, by }) => {
      const title = by === null ? 'the changes' : commitTitle(by);
      const stillUsed = uses.filter(({ name }) => takesAway(readChanges(file.patch ?? ''), name));
      const data = by === null ? {} : commitData(by);
      return changeFinding(file, title, stillUsed.length === 0 ? data : { ...data, stillUsed });
    }),
  ];
}

function listShown(files: readonly ChangedFile[], subject: TriageSubject): ChangedFile[] {
  return sortMentionedFirst(files, subject).slice(0, MAX_PATCHES_CHANGED);
}

function formatChange({ path, status, additions, deletions }: ChangedFile): string {
  return `${path} (${status}, +${additions} −${deletions})`;
}

/** Files that are rarely the cause, unless the failure names them. */
const RARELY_INFORMATIVE = new RegExp(
  String.raw`(?:^|/)(?:docs?|changelogs?|LICENSE[\w.-]{0,20})(?:/|$)|` +
    String.raw`\.(?:md|rst|txt|svg|png|jpe?g|gif|snap|min\.js|map)$`,
  'i',
);

/**
 * Sorts files: those that the failure names first, then those with the most changed lines, documents and
 * images last.
 */
function sortMentionedFirst<
  File extends { readonly path: string; readonly additions: number; readonly deletions: number },
>(files: readonly File[], subject: TriageSubject): File[] {
  const mentioned = listMentionedPaths(subject);
  const rank = ({ path }: File) => {
    if (mentioned.some((file) => file === path || path.endsWith(`/${file}`))) return 0;
    return RARELY_INFORMATIVE.test(path) ? 2 : 1;
  };
  const size = (file: File) => Math.min(1_000, file.additions + file.deletions);
  return [...files].sort((left, right) => rank(left) - rank(right) || size(right) - size(left));
}

/** Lists the paths that the failure's traces, diagnostics and tests name, relative to the repository. */
function listMentionedPaths(subject: TriageSubject): string[] {
  const frames = [...subject.exceptions, ...subject.failures].flatMap((item) =>
    item.frames.filter(({ own }) => own).map(({ file }) => file),
  );
  const named = [...subject.diagnostics, ...subject.failingTests].flatMap(({ file }) => file ?? []);
  const paths = [...new Set([...named, ...frames])]
    .slice(0, 60)
    .flatMap((file) => listRepositoryPaths(file)[0] ?? []);
  return [...new Set(paths)];
}
