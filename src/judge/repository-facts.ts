import { z } from 'zod';
import type { Evidence } from '../domain/evidence.ts';
import { isSameFile } from './places.ts';

/** A commit that touched a file, as a code tool found it. */
export interface Touch {
  readonly evidenceId: string;
  /** "read_blame", "changed_since_green", "read_commit_diff", "read_commit_history", "read_past_fixes". */
  readonly tool: string;
  readonly path: string;
  /** Stretches of lines, 1-based and inclusive; empty where the whole file is meant. */
  readonly lines: readonly (readonly [number, number])[];
  readonly commit: string | null;
  readonly author: string | null;
  /** When the commit was written, or null. */
  readonly at: string | null;
  readonly pullRequest: number | null;
}

/** What the tools for code found out about the repository. */
export interface RepositoryFacts {
  readonly touches: readonly Touch[];
  /** Files changed since the last green build, or in the built commit alone where none is known; null where nobody looked. */
  readonly changed: {
    readonly paths: readonly string[];
    readonly count: number;
    /** All that changed since it last worked is in the list. */
    readonly isWhole: boolean;
    readonly sinceGreen: boolean;
  } | null;
  /** Files that were changed when the same failure was mended before. */
  readonly mended: readonly string[];
  /** Files that the log, the failed step, the failing tests' imports or a guess lead to. */
  readonly found: readonly FoundFile[];
  /** Paths of the log, and guesses, that no file of the repository has. */
  readonly missing: readonly string[];
  /** Paths of the repository that a tool has seen. */
  readonly paths: readonly string[];
}

const FoundFile = z.object({
  path: z.string(),
  as: z.string(),
  line: z.int().nullable(),
  by: z.enum(['asked', 'log', 'import', 'step', 'manifest']),
});
/** A file of the repository that the failure leads to, and by which words. */
export type FoundFile = z.infer<typeof FoundFile>;

const text = z.string().nullish().catch(null);
const Data = z.object({
  path: text,
  commit: text,
  sha: text,
  author: text,
  at: text,
  pullRequest: z.int().nullish().catch(null),
  lines: z
    .array(z.tuple([z.number(), z.number()]))
    .nullish()
    .catch(null),
  files: z.array(z.string()).nullish().catch(null),
  fileCount: z.int().nullish().catch(null),
  truncated: z.boolean().nullish().catch(null),
  sinceGreen: z.boolean().nullish().catch(null),
  found: z.array(FoundFile).nullish().catch(null),
  missing: z.array(z.string()).nullish().catch(null),
});
type Data = z.infer<typeof Data>;

const TOUCHING: ReadonlySet<string> = new Set([
  'read_blame',
  'changed_since_green',
  'read_commit_diff',
  'read_commit_history',
  'read_past_fixes',
]);

/** Reads the structured part of what the code tools found; what does not fit is left out. */
export function repositoryFactsOf(evidence: readonly Evidence[]): RepositoryFacts {
  const read = evidence.map((item) => ({ item, data: Data.safeParse(item.data ?? {}).data ?? {} }));
  const touches = read.flatMap(({ item, data }) => (TOUCHING.has(item.tool) ? (touchOf(item, data) ?? []) : []));
  const lists = (tool: string) => read.filter(({ item, data }) => item.tool === tool && data.fileCount != null && data.files != null);
  const changed = lists('changed_since_green')[0]?.data;
  const found = read.find(({ item }) => item.tool === 'find_files')?.data;
  const named = evidence.some(({ tool }) => CODE_TOOLS.has(tool));
  return {
    touches,
    changed:
      changed?.files == null
        ? null
        : {
            paths: changed.files,
            count: changed.fileCount ?? changed.files.length,
            isWhole: changed.truncated !== true && changed.sinceGreen !== false,
            sinceGreen: changed.sinceGreen !== false,
          },
    found: found?.found ?? [],
    missing: found?.missing ?? [],
    mended: lists('read_past_fixes').flatMap(({ data }) => data.files ?? []),
    paths: named ? [...new Set(read.flatMap(({ item, data }) => (CODE_TOOLS.has(item.tool) ? pathsIn(data) : [])))] : [],
  };
}

/** The path in the repository that a path of the log means, where the tools have seen exactly one that fits; else the log's. */
export function repositoryPathOf(path: string, { paths }: Pick<RepositoryFacts, 'paths'>): string {
  const fitting = paths.filter((one) => one === path || one.endsWith(`/${path}`));
  return fitting.length === 1 ? (fitting[0] ?? path) : path;
}

/** The touches of one file. */
export function touchesOf(path: string, { touches }: Pick<RepositoryFacts, 'touches'>): readonly Touch[] {
  return touches.filter((touch) => isSameFile(touch.path, path));
}

const CODE_TOOLS: ReadonlySet<string> = new Set([...TOUCHING, 'read_file', 'read_test_file', 'search_code', 'search_semantic']);

function pathsIn({ path, files }: Data): string[] {
  return [...(path == null ? [] : [path]), ...(files ?? [])];
}

function touchOf(item: Evidence, data: Data): Touch | null {
  const path = data.path ?? (item.source.startsWith('commit/') || item.source.startsWith('compare/') ? null : item.source);
  if (path === null) return null;
  const shown = item.lineStart === undefined ? [] : [[item.lineStart, item.lineEnd ?? item.lineStart] as const];
  return {
    evidenceId: item.id,
    tool: item.tool,
    path,
    lines: data.lines ?? shown,
    commit: data.commit ?? data.sha ?? null,
    author: data.author ?? null,
    at: data.at ?? null,
    pullRequest: data.pullRequest ?? null,
  };
}

/** Whether a line says that a registry answered and does not have that version or package. */
export function isPublishedVersionMissing(text: string): boolean {
  return MISSING.test(text) && !/E: Failed to fetch|\b50[0234]\b|\b429\b/.test(text);
}

const MISSING =
  /npm (?:ERR!|error) (?:code )?(?:E404|ETARGET|notarget)|No matching version found|is not in (?:this|the npm) registry|Could not find artifact|was not found in https?:\/\/|No matching distribution|Could not find a version that satisfies|unknown revision|NU110[0-3]|Couldn't find any versions for|not found: manifest unknown|manifest for \S{1,200} not found/i;

const REGISTRY =
  /registry\.|\/registry|repo1?\.maven|repo\.\w|npmjs|pypi|rubygems|crates\.io|proxy\.golang|packagist|nuget|ghcr\.io|docker\.io|gcr\.io|artifactory|nexus|pkg\.github\.com|clojars|npm (?:ERR!|error)|pip\b|Could not (?:transfer|GET|HEAD|resolve)|docker|helm|pull access/i;

/** The HTTP status that a registry answered with on this line, where it is one that decides between categories. */
export function registryStatus(text: string): number | null {
  if (!REGISTRY.test(text)) return null;
  const found =
    /\b(?:E|code |status(?: code)?:? |HTTP(?:\/\d(?:\.\d)?)? |error:? |Received status code )?(401|403|404|429|500|502|503|504)\b/i.exec(
      text,
    );
  return found?.[1] === undefined ? null : Number(found[1]);
}
