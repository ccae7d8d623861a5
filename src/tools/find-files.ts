import { z } from 'zod';
import type { Category } from '../domain/category.ts';
import type { FindingFrom, FoundFile } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { findMax } from '../lib/collections.ts';
import { listRepositoryPaths } from '../log/paths.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { type BuiltCode, defineCodeTool, findBuiltCode, isRelated, testFilePaths } from './repository.ts';
import type { Tool, ToolContext } from './tool.ts';

/**
 * The maximum number of files of a repository that are searched. If it has more, no path is reported as
 * missing.
 */
const MAX_LISTED = 100_000;
/** The maximum number of words of the log that are looked up. */
const MAX_WORDS = 4_000;
const MAX_FOUND = 24;
/** The maximum number of paths that are looked up. */
const MAX_PATHS = 40;
const MAX_SHOWN = 10;
/** The maximum number of files that match a name. A name with more matches is ambiguous. */
const MAX_FITTING = 3;
const MAX_TEST_FILES = 2;
/** The maximum number of lines of a test's source that are searched for imports. */
const HEAD_LINES = 80;
const MAX_IMPORTS = 8;
const MAX_MANIFESTS = 3;
/** The maximum number of CI files with the failed command that are read, and of their lines. */
const [MAX_CI_FILES, MAX_CI_LINES] = [6, 1_000];
const BETWEEN_WORDS = /[\s"'`<>{},;=|]/;
const IMPORT = new RegExp(
  String.raw`^\s{0,8}(?:import|from|use|using|require|require_relative|include|#include|` +
    String.raw`@?import|const|let|var|mod|part)\b(.{1,300})`,
);

const Parameters = z.strictObject({
  paths: z
    .array(z.string().min(1).max(1_024))
    .max(MAX_PATHS)
    .optional()
    .describe('Paths to look for, as the log or a guess has them'),
});

type Lookup = (name: string) => readonly string[];

/**
 * Creates the tool that finds the files of the repository to which the failure leads: the requested paths,
 * every path in the kept lines, the imports of the failing
 * tests, the CI file that contains the failed step, and the manifests for a dependency error, all in the
 * built commit. It reports
 * requested paths that do not exist.
 */
export function findFiles(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'find_files',
    question:
      'Which files of the repository do the log, the failed step and the failing test lead to, and ' +
      'which paths do not exist there?',
    serves: { CODE_ERROR: null, CONFIG_ERROR: null, DEPENDENCY_ERROR: null, TEST_FAILURE: null },
    investigator: 'code',
    asks: 'code host',
    precedence: 6,
    always: true,
    costClass: 'low',
    usualLatencyMs: 300,
    parameters: Parameters,
    keptBy: 'failure',
    argumentsFrom: ({ places }) => ({ paths: places.slice(0, MAX_PATHS).map(({ path }) => path) }),
    async run({ paths = [] }, context) {
      const code = await findBuiltCode(codeHost, context);
      const list = await codeHost.listFiles({ ...code.at, limit: MAX_LISTED }, code.signal);
      const lookup = createLookup(list.paths);
      const asked = paths.map((path) => ({ as: path, fitting: lookup(path) }));
      const found = [
        ...asked.flatMap(({ as, fitting }) => toFoundFiles(fitting, { as, line: null, by: 'asked' })),
        ...listNamedInLog(context.subject, lookup),
        ...(await findImportedByTests(code, context, lookup, list.paths)),
        ...(await findStepFiles(code, context)),
        ...listManifests(list.paths, context.category),
      ];
      const missing = list.truncated
        ? []
        : asked.filter(({ fitting }) => fitting.length === 0).map(({ as }) => as);
      return toFindings(found, missing, code.titled);
    },
  });
}

function toFindings(
  found: readonly FoundFile[],
  missing: readonly string[],
  noted: (title: string) => string,
): FindingFrom<'find_files'>[] {
  const files = found.filter(
    (file, at) =>
      found.findIndex(
        ({ path, by, as }) => path === file.path && by === file.by && (by !== 'asked' || as === file.as),
      ) === at,
  );
  if (files.length === 0 && missing.length === 0) return [];
  const kept = files.slice(0, MAX_FOUND + missing.length);
  const listed = kept
    .filter(({ path }, at) => kept.findIndex((file) => file.path === path) === at)
    .slice(0, MAX_SHOWN);
  const text = [
    ...listed.map(describeFile),
    ...(missing.length === 0 ? [] : [`not in the repository: ${missing.slice(0, MAX_SHOWN).join(', ')}`]),
  ];
  const title = noted(
    `the failure points to ${listed.length === 1 ? 'one file' : `${listed.length} files`} in the repository`,
  );
  return [
    { title, text: text.join('\n'), source: 'repository', data: { found: kept, missing: [...missing] } },
  ];
}

function describeFile({ path, line, by, as }: FoundFile): string {
  const at = line === null ? path : `${path}:${line}`;
  const why = {
    asked: '',
    log: '',
    import: ' (the failing test imports it)',
    step: ` (defines the failed step: ${as})`,
    manifest: ' (manifest)',
  };
  return `${at}${why[by]}`;
}

/**
 * Creates a lookup of files by the end of their path, whole segments only. A name that fits too many files
 * returns none.
 */
function createLookup(paths: readonly string[]): Lookup {
  const byName = Map.groupBy(paths, getLastPart);
  return (logged) => {
    for (const suffix of listRepositoryPaths(logged)) {
      const named = byName.get(getLastPart(suffix)) ?? [];
      const fitting = named.includes(suffix) ? [suffix] : named.filter((path) => path.endsWith(`/${suffix}`));
      if (fitting.length > 0) return fitting.length <= MAX_FITTING ? fitting : [];
    }
    return [];
  };
}

function toFoundFiles(paths: readonly string[], named: Omit<FoundFile, 'path'>): FoundFile[] {
  return paths.map((path) => ({ path, ...named }));
}

/**
 * Lists the paths in the log, most important first: those in messages and the heaviest excerpts, then those
 * in the names of failed steps.
 */
function listNamedInLog(subject: TriageSubject, lookup: Lookup): FoundFile[] {
  const heaviest = [...subject.excerpts].sort((left, right) => right.weight - left.weight);
  const texts = [...subject.messages.slice(0, 5), ...heaviest].map(({ text }) => text);
  const steps = subject.failedSections.map(({ name }) => name);
  const words = [...texts, ...steps].flatMap((text) => text.split(BETWEEN_WORDS)).slice(0, MAX_WORDS);
  const seen = new Set<string>();
  return words.flatMap((word) => {
    const name = word.replace(/^[([]{1,4}(?=[\w./])|[)\].,:!?]{1,6}$/g, '');
    if (seen.has(name) || !/[./]/.test(name) || name.includes('://')) return [];
    seen.add(name);
    const line = Number(
      /:(\d{1,7})(?::\d{1,7})?$|\((\d{1,7})(?:,\d{1,7})?\)$/
        .exec(name)
        ?.slice(1)
        .find((digits) => digits !== undefined) ?? 0,
    );
    return toFoundFiles(lookup(name), { as: name, line: line > 0 ? line : null, by: 'log' });
  });
}

/**
 * Finds the project's files that failing tests import: an import line, in any language, whose name is the end
 * of a file's path.
 */
async function findImportedByTests(
  { host, at, signal }: BuiltCode,
  { subject, category }: ToolContext,
  lookup: Lookup,
  paths: readonly string[],
): Promise<FoundFile[]> {
  if (category !== 'TEST_FAILURE' && category !== 'CODE_ERROR') return [];
  const tests = [
    ...new Set(
      subject.failingTests.flatMap((test) => testFilePaths(test).flatMap((path) => lookup(path).slice(0, 1))),
    ),
  ];
  const read = await Promise.all(
    tests.slice(0, MAX_TEST_FILES).map(async (path) => {
      const file = await ignoreFailure(
        host.readFile({ ...at, path, lineStart: 1, lineEnd: HEAD_LINES }, signal),
        signal,
      );
      const stems = indexStems(paths.filter((other) => detectLanguage(other) === detectLanguage(path)));
      return (file?.lines ?? []).flatMap((line) => {
        const named = IMPORT.exec(line)?.[1];
        return named === undefined ? [] : (resolveImportedFile(named, path, stems) ?? []);
      });
    }),
  );
  const found = [...new Set(read.flat())].filter((path) => !tests.includes(path)).slice(0, MAX_IMPORTS);
  return found.map((path) => ({ path, as: 'import', line: null, by: 'import' }));
}

/**
 * Returns null if the work fails, because its result is only an addition to the list. Throws only if the run
 * ended.
 */
async function ignoreFailure<Value>(asked: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

/**
 * Returns one name for all extensions of files that can import each other. A file imports only files of its
 * own language.
 */
function detectLanguage(path: string): string {
  const ending = /\.(\w{1,8})$/.exec(path)?.[1]?.toLowerCase() ?? '';
  if (/^(?:[cm]?[jt]sx?|vue|svelte|json)$/.test(ending)) return 'script';
  if (/^(?:java|kt|kts|scala|groovy)$/.test(ending)) return 'jvm';
  return /^(?:c|cc|cpp|cxx|h|hh|hpp|m|mm)$/.test(ending) ? 'c' : ending;
}

/** Files by their path without extension, and by the last part of it. A folder stands for its index file. */
interface Stems {
  readonly exact: ReadonlyMap<string, string>;
  readonly byLast: ReadonlyMap<string, readonly string[]>;
}

function indexStems(paths: readonly string[]): Stems {
  const exact = new Map<string, string>();
  for (const path of paths) {
    const stem = path.replace(/\.\w{1,6}$/, '');
    for (const name of [path, stem, stem.replace(/\/(?:index|__init__|mod|lib)$/, '')])
      if (!exact.has(name)) exact.set(name, path);
  }
  return { exact, byLast: Map.groupBy(exact.keys(), getLastPart) };
}

function getLastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Resolves an import to a file: `'../src/cart'` relative to the importing file; `a.b.C`, `crate::a::b` and
 * `package:app/a.dart` by the longest suffix that is a file's path.
 */
function resolveImportedFile(named: string, from: string, stems: Stems): string | null {
  const quoted = /["']([^"']{1,200})["']/.exec(named)?.[1];
  const dotted = /([\w.]{3,200}(?:::\w{1,80}){0,8})(?:\s{1,4}import\s{1,4}(\w{1,80}))?/.exec(named);
  if (quoted?.startsWith('.') === true)
    return stems.exact.get(joinPath(from.split('/').slice(0, -1), quoted.split('/'))) ?? null;
  const name =
    quoted ??
    dotted
      ?.slice(1, 3)
      .filter((part) => part !== undefined)
      .join('.') ??
    '';
  const segments = (quoted === undefined ? name.split(/::|\./) : name.split(/[/:]/)).filter(
    (part) => part !== '' && part !== 'crate' && part !== '@',
  );
  for (let end = segments.length; end >= Math.max(1, segments.length - 1); end -= 1) {
    for (let start = 0; start < end; start += 1) {
      const suffix = segments.slice(start, end).join('/');
      const whole =
        stems.exact.get(suffix) ?? (end - start >= 2 || start === 0 ? findEndingWith(stems, suffix) : null);
      if (whole !== null && whole !== undefined) return whole;
    }
  }
  return null;
}

function findEndingWith({ exact, byLast }: Stems, suffix: string): string | null {
  const stem = byLast.get(getLastPart(suffix))?.find((path) => path.endsWith(`/${suffix}`));
  return stem === undefined ? null : (exact.get(stem) ?? null);
}

function joinPath(folder: readonly string[], parts: readonly string[]): string {
  const path = [...folder];
  for (const part of parts) {
    if (part === '..') path.pop();
    else if (part !== '.' && part !== '') path.push(part);
  }
  return path.join('/');
}

/** Finds the CI file that defines the failed step, by the step's name or its first command. */
async function findStepFiles(code: BuiltCode, { subject, category }: ToolContext): Promise<FoundFile[]> {
  const { host, at, signal } = code;
  if (category !== 'CONFIG_ERROR' && category !== 'DEPENDENCY_ERROR') return [];
  const name =
    subject.failedSections.at(-1)?.name.split(' / ').at(-1)?.replace(/^Run /, '').replace(/…$/, '').trim() ??
    '';
  if (name.length < 4 || /[\n\r\0]/.test(name)) return [];
  const hits = await ignoreFailure(
    host.search({ ...at, text: name.slice(0, 200), limit: 50 }, signal),
    signal,
  );
  const inCiFiles = (hits ?? []).filter(({ path }) => isRelated(path, 'CONFIG_ERROR'));
  const paths = [...new Set(inCiFiles.map(({ path }) => path))];
  const defining =
    paths.length < 2 ? paths : await keepFilesOfJob(code, subject, paths.slice(0, MAX_CI_FILES));
  return inCiFiles
    .filter(({ path }) => defining.includes(path))
    .slice(0, MAX_FITTING)
    .map(({ path, line }) => ({ path, as: name, line, by: 'step' }));
}

/**
 * Keeps the CI files that name the failed pipeline and job. Many files may run the same command; if none
 * names its job, none is known to define the step.
 */
async function keepFilesOfJob(
  { host, at, signal }: BuiltCode,
  { build: { pipeline, job: named }, failedSections }: TriageSubject,
  files: readonly string[],
): Promise<string[]> {
  const columns = failedSections.at(-1)?.name.split(' / ') ?? [];
  // A job of a matrix is named with its values in parentheses.
  const job = (named ?? (columns.length > 1 ? (columns[0] ?? '') : '')).replace(/ \([^)]{0,200}\)$/, '');
  const read = await Promise.all(
    files.map(async (path) => {
      const file = await ignoreFailure(
        host.readFile({ ...at, path, lineStart: 1, lineEnd: MAX_CI_LINES }, signal),
        signal,
      );
      const lines = file?.lines ?? [];
      const isOfPipeline = lines.some((line) => /^name:/.test(line) && readScalar(line) === pipeline);
      const isOfJob = job.length > 2 && lines.some((line) => line.includes(job));
      return { path, fits: 2 * Number(isOfPipeline) + Number(isOfJob) };
    }),
  );
  const best = findMax(
    read.map(({ fits }) => fits),
    0,
  );
  return best === 0 ? [] : read.filter(({ fits }) => fits === best).map(({ path }) => path);
}

/** Reads the value of a line `name: value` of a YAML file. */
function readScalar(line: string): string {
  return line
    .slice(line.indexOf(':') + 1)
    .trim()
    .replace(/^["']|["']$/g, '');
}

/** Lists the manifests that are nearest to the root. */
function listManifests(paths: readonly string[], category: Category): FoundFile[] {
  if (category !== 'DEPENDENCY_ERROR') return [];
  const manifests = paths.filter((path) => isRelated(path, 'DEPENDENCY_ERROR'));
  const depth = (path: string) => path.split('/').length;
  return manifests
    .sort((left, right) => depth(left) - depth(right) || (left < right ? -1 : 1))
    .slice(0, MAX_MANIFESTS)
    .map((path) => ({ path, as: path, line: null, by: 'manifest' }));
}
