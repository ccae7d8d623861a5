import type { z } from 'zod';
import type { Category } from '../domain/category.ts';
import { CI_FILES } from '../domain/ci-files.ts';
import { TriageError } from '../domain/errors.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { FindingFrom, PlainFinding } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { append } from '../lib/collections.ts';
import { findChangedRange, readChanges } from '../lib/patch-changes.ts';
import { listRepositoryPaths } from '../log/paths.ts';
import type { ChangedFile, CodeHost, CommitInfo } from '../ports/code-host.ts';
import { type CachePolicy, defineTool, type Tool, type ToolContext, type ToolDefinition } from './tool.ts';

/** The built commit, or a substitute for it, and the requests for it to the code host. */
export interface BuiltCode {
  readonly host: CodeHost;
  readonly signal: AbortSignal;
  /** The repository and commit for all requests about files. */
  readonly at: { readonly repository: string; readonly ref: string };
  /** The note in titles that the commit is not the built one; null otherwise. */
  readonly note: string | null;
  titled(title: string): string;
  /** Finds the file that a path from a log refers to. */
  locate(path: string): Promise<Located>;
}

/** A file of the repository, or findings if there is none or several. */
type Located = { readonly path: string } | { readonly findings: Ambiguous[] };

/** The files that a path may mean. */
type Ambiguous = PlainFinding & { readonly data: { readonly candidates: string[] } };

/** A commit, or its change of a file, as a finding. */
export type ChangeFinding = FindingFrom<'read_commit_diff'>;
type ChangeData = NonNullable<ChangeFinding['data']>;

/** The maximum number of files that are named if a path is ambiguous. */
const MAX_NAMED = 8;
/** The maximum number of suffixes that are tried. */
const MAX_TRIES = 12;

interface CodeToolDefinition<Schema extends z.ZodObject, Name extends string>
  extends Omit<ToolDefinition<Schema, Name>, 'provider' | 'cache' | 'findUnavailableReason'> {
  /**
   * The parts of the cache key in addition to the commit: the arguments, or also the failure if missing
   * arguments are derived from it. If absent, results are not cached.
   */
  readonly keptBy?: 'arguments' | 'failure';
}

/** Defines a tool that calls the code host. It is unavailable if no clone of the repository is configured. */
export function defineCodeTool<Schema extends z.ZodObject, Name extends string>(
  codeHost: CodeHost,
  { keptBy, ...definition }: CodeToolDefinition<Schema, Name>,
): Tool {
  return defineTool<Schema, Name>({
    ...definition,
    provider: `code-host:${codeHost.driver}`,
    ...(keptBy === undefined ? {} : { cache: cacheByCommit(codeHost, keptBy) }),
    findUnavailableReason: async ({ build: { repository } }) =>
      (await codeHost.canRead(repository))
        ? null
        : `No clone of ${repository} is configured, so its code cannot be read.`,
  });
}

/** Finds the commit of the build. Throws `not-found` if the repository has no commit. */
export async function findBuiltCode(
  host: CodeHost,
  { subject, signal }: Pick<ToolContext, 'subject' | 'signal'>,
): Promise<BuiltCode> {
  const { repository, commit } = subject.build;
  const resolved = await host.resolve({ repository, ref: commit }, signal);
  if (resolved.ref === null) throw new TriageError('not-found', `${repository} has no readable commit.`);
  const unnamed = commit === null ? `as of ${resolved.ref.slice(0, 10)}: the build names no commit` : null;
  const note = resolved.note ?? unnamed;
  const code: BuiltCode = {
    host,
    signal,
    at: { repository, ref: resolved.ref },
    note,
    titled: (title) => (note === null ? title : `${title} (${note})`),
    locate: (path) => locateFile(code, path),
  };
  return code;
}

/**
 * Finds the file that a path means. If several files match, returns a finding with their names, so that the
 * next call can name one.
 */
async function locateFile({ host, at, signal }: BuiltCode, path: string): Promise<Located> {
  for (const suffix of listRepositoryPaths(path).slice(0, MAX_TRIES)) {
    const matches = await host.findFiles({ ...at, suffix, limit: MAX_NAMED }, signal);
    const [first] = matches;
    if (first === undefined) continue;
    if (matches.includes(suffix)) return { path: suffix };
    if (matches.length === 1) return { path: first };
    const title = `${path} fits ${matches.length} files; name one of them`;
    return {
      findings: [
        { title, text: matches.join('\n'), source: 'repository', data: { candidates: [...matches] } },
      ],
    };
  }
  return { findings: [] };
}

/**
 * The time for which results are cached. A commit never changes, but other parts of a result may (a pull
 * request, an author's name).
 */
const WEEK_MS = 7 * 24 * 3_600_000;

/** Creates a cache policy by commit. If the commit is not known exactly, nothing is cached. */
function cacheByCommit(codeHost: CodeHost, by: 'arguments' | 'failure'): CachePolicy<unknown> {
  return {
    ttlMs: WEEK_MS,
    key: async (_args, context) => {
      const { at, note } = await findBuiltCode(codeHost, context);
      if (!/^[0-9a-f]{40,64}$/.test(at.ref)) return null;
      return [codeHost.driver, at.ref, note, ...(by === 'arguments' ? [] : [toFailureKey(context.subject)])];
    },
  };
}

/** Returns the parts of a failure that tools read, without the ids that differ between builds. */
function toFailureKey(subject: TriageSubject): readonly unknown[] {
  const { fingerprint, failures, exceptions, diagnostics, failingTests } = subject;
  return [
    fingerprint.value,
    failures.map(({ test, message, frames }) => [test, message, frames]),
    exceptions,
    diagnostics,
    failingTests,
  ];
}

/** Manifests and lock files, which are relevant for a DEPENDENCY_ERROR. */
const MANIFESTS: readonly RegExp[] = [
  /(?:^|\/)(?:package|package-lock|npm-shrinkwrap|deno|composer|vcpkg|packages\.lock)\.json$/,
  /(?:^|\/)(?:yarn|bun|deno|composer|poetry|uv|pdm|pixi|Cargo|mix|pubspec|rebar|flake|conan|gems)\.lock$/,
  /(?:^|\/)(?:pnpm-lock|pnpm-workspace|pubspec|environment|stack)\.ya?ml$/,
  /(?:^|\/)(?:requirements|constraints)[\w.-]*\.(?:txt|in)$/,
  /(?:^|\/)requirements\/[\w.-]+\.(?:txt|in)$/,
  /(?:^|\/)(?:pyproject|Cargo|Pipfile|libs\.versions)\.toml$/,
  new RegExp(
    String.raw`(?:^|/)(?:setup\.py|setup\.cfg|Pipfile|Pipfile\.lock|Gemfile|Gemfile\.lock|` +
      String.raw`Podfile|Podfile\.lock|gradle\.lockfile)$`,
  ),
  new RegExp(
    String.raw`(?:^|/)(?:pom\.xml|build\.sbt|project\.clj|mix\.exs|rebar\.config|` +
      String.raw`MODULE\.bazel|Package\.swift|Package\.resolved)$`,
  ),
  /(?:^|\/)(?:build|settings)\.gradle(?:\.kts)?$/,
  /(?:^|\/)gradle-wrapper\.properties$/,
  /(?:^|\/)go\.(?:mod|sum|work|work\.sum)$/,
  /(?:^|\/)conanfile\.(?:txt|py)$/,
  /(?:^|\/)Directory\.Packages\.props$/,
  /(?:^|\/)[\w.-]+\.(?:csproj|fsproj|vbproj|gemspec|cabal|podspec)$/,
];

const SCOPES: Partial<Record<Category, readonly RegExp[]>> = {
  CONFIG_ERROR: CI_FILES,
  DEPENDENCY_ERROR: MANIFESTS,
};

/** Checks whether a change of this path may be related to a failure of this category. */
export function isRelated(path: string, category: Category): boolean {
  const scope = SCOPES[category];
  return scope === undefined || scope.some((pattern) => pattern.test(path));
}

const JVM_ENDINGS = ['java', 'kt', 'scala', 'groovy'];

/**
 * Lists the possible files of a failing test, most likely first: the file that its report names, then the
 * files of its class or module name (`com.shop.CartTest` → `com/shop/CartTest.java`,
 * `tests.test_cart.TestCart` → `tests/test_cart.py`).
 */
export function testFilePaths(test: Pick<FailingTest, 'file' | 'suite' | 'name'>): string[] {
  const paths: string[] = [];
  if (test.file !== null) paths.push(test.file);
  const inName = test.name.match(/^([^\s:]+\.\w{1,5})::/)?.[1];
  if (inName !== undefined) paths.push(inName);
  for (const name of [test.suite, test.name]) if (name !== null) append(paths, toPathsOfDotted(name));
  return [...new Set(paths)];
}

/**
 * Converts a dotted class or module name to possible paths. Returns none for a name with spaces or slashes,
 * which is a sentence or a path.
 */
function toPathsOfDotted(name: string): string[] {
  const dotted = name.replace(/[(#[$].*/s, '');
  if (/\.(?:[cm]?[jt]sx?|py|rb|go|rs|php)$/.test(dotted) && !/\s/.test(dotted)) return [dotted];
  if (!/^[\w]+(?:\.[\w]+)*$/.test(dotted)) return [];
  const parts = dotted.split('.');
  const classAt = parts.findIndex((part) => /^[A-Z]/.test(part));
  if (classAt >= 0) {
    const jvm = parts.slice(0, classAt + 1).join('/');
    const module = parts.slice(0, classAt).join('/');
    return [
      ...JVM_ENDINGS.map((ending) => `${jvm}.${ending}`),
      ...(module === '' ? [] : [`${module}.py`]),
      `${parts[classAt]}.cs`,
    ];
  }
  return parts.length < 2 ? [] : [`${parts.join('/')}.py`, `${parts.slice(0, -1).join('/')}.py`];
}

const MAX_FOLDERS = 60;
const MAX_FILES_TREE = 25;

/**
 * Formats the folders down to the second level with their numbers of files, most first, and then the
 * top-level files.
 */
export function formatTree(paths: readonly string[], under: string): string {
  const folders = new Map<string, number>();
  const files: string[] = [];
  for (const path of paths) {
    const parts = (under === '' ? path : path.slice(under.length + 1)).split('/');
    if (parts.length === 1) files.push(path);
    const folder = parts.slice(0, Math.min(2, parts.length - 1)).join('/');
    if (folder !== '') folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const sorted = [...folders].sort(([, left], [, right]) => right - left).slice(0, MAX_FOLDERS);
  const lines = sorted
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([folder, count]) => `${folder}/ (${count})`);
  const more = files.length > MAX_FILES_TREE ? [`… ${files.length - MAX_FILES_TREE} more files`] : [];
  return [...lines, ...files.slice(0, MAX_FILES_TREE), ...more].join('\n');
}

const MAX_FILES_COMMIT = 50;
/** The maximum number of ranges of changed lines that are kept as data. A file with more was rewritten. */
const MAX_RANGES = 40;

/**
 * Formats author, date, pull request and subject of a commit: "a1b2c3d4e5 Ada, 2026-01-05, #12: Raise the
 * tax".
 */
export function commitTitle({ commit, author, at, subject, pullRequest }: Omit<CommitInfo, 'files'>): string {
  const request = pullRequest == null || subject.includes(`#${pullRequest}`) ? '' : `, #${pullRequest}`;
  return `${commit.slice(0, 10)} ${author}, ${at.slice(0, 10)}${request}: ${subject}`;
}

/** Returns the fields of a commit that the suspect ranking reads. */
export function commitData({
  commit,
  author,
  at,
  subject,
  pullRequest,
}: Omit<CommitInfo, 'files'>): ChangeData {
  return { commit, author, at, subject, pullRequest: pullRequest ?? null };
}

/** Converts a commit and the files it touched to a finding. */
export function commitFinding(info: CommitInfo, title: string, data: ChangeData = {}): ChangeFinding {
  const files = info.files.slice(0, MAX_FILES_COMMIT);
  const more = info.files.length - files.length;
  return {
    title,
    text: [info.subject, ...files, ...(more > 0 ? [`… ${more} more files`] : [])].join('\n'),
    source: `commit/${info.commit}`,
    data: { ...data, ...commitData(info), files },
  };
}

/**
 * Converts a changed file and its patch to a finding, with the changed lines of the new state if there is a
 * patch.
 */
export function changeFinding(file: ChangedFile, title: string, data: ChangeData): ChangeFinding {
  const moved = file.previousPath === null ? '' : `, was ${file.previousPath}`;
  const { path, previousPath, status, additions, deletions, patch } = file;
  return {
    title: `${path} (${status}${moved}, +${additions} −${deletions}) in ${title}`,
    text: patch ?? `${status}: +${additions} −${deletions} lines, no patch`,
    source: path,
    data: {
      ...data,
      path,
      previousPath,
      status,
      additions,
      deletions,
      lines: listChangedRanges(patch ?? ''),
    },
  };
}

/**
 * Returns the first and last line of each range that a unified diff adds or changes, 1-based in the new file.
 */
export function listChangedRanges(patch: string): [number, number][] {
  return readChanges(patch).map(findChangedRange).slice(0, MAX_RANGES);
}
