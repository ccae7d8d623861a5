import { z } from 'zod';
import type { Claim } from '../domain/analysis.ts';
import { Category, Kind } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import {
  findChangedRange,
  isOnlyFormatting,
  type LineChange,
  readAlterations,
  readChanges,
} from '../lib/patch-changes.ts';
import { isSameFile } from './places.ts';
import { listed } from './wording.ts';

/**
 * Creates the schema of a field in a finding's data. The value is null if the field is absent or has another
 * shape.
 */
const field = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null).catch(null);
const text = field(z.string());

const RetrievedData = z.object({
  category: field(Category),
  kind: field(Kind),
  /** The person who confirmed the entry. It counts only in the error library. */
  confirmedBy: text,
  rootCause: text,
  fixRecommendation: text,
  fix: text,
  /** The line of a curated document that resembles a line of the failure. */
  matchedPhrase: text,
  /** The cause according to a team's document, and the words of the document that name the error. */
  cause: text,
  named: text,
  /** True if a decision is similar enough to propose its cause and fix. */
  proposes: field(z.boolean()),
  repository: text,
});

type RetrievedData = z.infer<typeof RetrievedData>;

/** A knowledge document or a person's earlier decision, as a tool found it. */
export interface Retrieved extends Omit<RetrievedData, 'fixRecommendation' | 'matchedPhrase' | 'proposes'> {
  readonly proposes: boolean;
  readonly evidence: Evidence;
  /** The words by which it was found: a line of a curated document, or the whole passage. */
  readonly phrase: string;
  readonly score: number;
}

/** The similarity from which a decision proposes its cause, if the tool that found it does not say. */
const ALIKE = 0.75;

const RETRIEVERS: ReadonlySet<string> = new Set(['search_knowledge', 'search_error_library']);

/** Lists everything that was retrieved from the knowledge base and the error library, best score first. */
export function retrievedFrom(evidence: readonly Evidence[]): readonly Retrieved[] {
  const found = evidence.filter((item) => RETRIEVERS.has(item.tool)).map(read);
  return found.sort((left, right) => right.score - left.score);
}

/** Returns the best similarity of anything retrieved, or 0 if nothing was. */
export function retrievalScore(evidence: readonly Evidence[]): number {
  return retrievedFrom(evidence)[0]?.score ?? 0;
}

/**
 * Returns the best decision of a person that is alike enough to propose its cause, and fits the category.
 * Returns null if there is none.
 */
export function confirmedEntry(evidence: readonly Evidence[], category: Category): Retrieved | null {
  return listDecisions(evidence).find((item) => item.category === category && item.proposes) ?? null;
}

/**
 * Returns the best decision of a person about a failure that resembles this one, but not enough to propose
 * its cause. Returns null if there is none, or if a better one proposes its cause.
 */
export function findPrecedent(evidence: readonly Evidence[]): Retrieved | null {
  const [best] = listDecisions(evidence);
  return best === undefined || best.proposes ? null : best;
}

/** Lists what people decided about similar failures, most similar first. */
export function listDecisions(evidence: readonly Evidence[]): readonly Retrieved[] {
  return retrievedFrom(evidence).filter((item) => item.confirmedBy !== null);
}

/** Returns the best document of the team that names this error. Returns null if there is none. */
export function findNamingDocument(evidence: readonly Evidence[]): Retrieved | null {
  return retrievedFrom(evidence).find((item) => item.named !== null && isTeamDocument(item.evidence)) ?? null;
}

/** Checks whether a document is the team's own. */
export function isTeamDocument({ source }: Pick<Evidence, 'source'>): boolean {
  return source.startsWith('team-knowledge/');
}

/**
 * Returns the best curated document of the same kind, otherwise one of the same category with a good score.
 * Returns null if there is none.
 */
export function fittingDocument(
  evidence: readonly Evidence[],
  category: Category,
  kind: Kind,
): Retrieved | null {
  const documents = retrievedFrom(evidence).filter(
    (item) => item.confirmedBy === null && item.evidence.tool === 'search_knowledge',
  );
  const sameKind = documents.find((item) => item.kind === kind && item.score >= 0.2);
  return sameKind ?? documents.find((item) => item.category === category && item.score >= 0.6) ?? null;
}

function read(evidence: Evidence): Retrieved {
  const { fixRecommendation, matchedPhrase, proposes, ...data } = RetrievedData.parse(evidence.data ?? {});
  const isOwn = data.named !== null && isTeamDocument(evidence);
  return {
    ...data,
    evidence,
    phrase: matchedPhrase ?? evidence.text,
    proposes: proposes ?? (evidence.score ?? 0) >= ALIKE,
    score: evidence.score ?? 0,
    confirmedBy: evidence.tool === 'search_error_library' ? data.confirmedBy : null,
    fix: fixRecommendation ?? data.fix ?? (isOwn ? null : section(evidence.text, FIX_HEADING)),
  };
}

const FIX_HEADING = /^#{0,4}\s*(?:fix|fixes|how to fix|what to do)\b[:\s]*/i;

/** Returns the paragraph under a heading of a Markdown text. Returns null if there is none. */
function section(text: string, heading: RegExp): string | null {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => heading.test(line));
  if (start < 0) return null;
  const rest = [(lines[start] ?? '').replace(heading, ''), ...lines.slice(start + 1)];
  const end = rest.findIndex((line, index) => index > 0 && /^#{1,4}\s/.test(line));
  const body = rest
    .slice(0, end < 0 ? undefined : end)
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim();
  return body === '' ? null : body.slice(0, 600);
}

const Row = z.object({
  fingerprint: z.string(),
  repository: z.string(),
  pipeline: z.string(),
  number: z.string(),
  branch: z.string(),
  commit: z.string().nullable(),
  buildId: z.string(),
  seenAt: z.string(),
});
type Row = z.infer<typeof Row>;

/**
 * The usual names of branches that everyone's changes end up in. The build itself does not say which branch
 * is the default.
 */
const SHARED = /^(?:main|master|trunk|default)$/;
const MAX_NAMED = 3;

/**
 * Checks whether the same failure (equal fingerprint, same repository) was seen in earlier builds of other
 * branches, so that this change did not cause it. `isSure` is true if a shared branch or several other
 * branches had it; a single topic branch may contain the same change. Returns null if it was not seen, if the
 * fingerprint is too generic to call failures the same, if the build names no branch, and for a failure that
 * only this branch has had.
 */
export function seenElsewhere(
  subject: TriageSubject,
  evidence: readonly Evidence[],
): { readonly isSure: boolean; readonly claim: Claim } | null {
  const { branch } = subject.build;
  if (subject.generic || branch === null) return null;
  const rows = evidence.flatMap((item) => sameFailure(item, subject));
  const others = rows.filter(({ row }) => row.branch !== branch);
  const chosen = SHARED.test(branch)
    ? rows.filter(({ row }) => row.commit !== null && row.commit !== subject.build.commit)
    : others;
  if (chosen.length === 0) return null;
  const shared = chosen.filter(({ row }) => SHARED.test(row.branch));
  const isSure = shared.length > 0 || new Set(chosen.map(({ row }) => row.branch)).size > 1;
  const named = [...shared, ...chosen.filter((one) => !shared.includes(one))].slice(0, MAX_NAMED);
  const builds = named.map(
    ({ row }) => `${row.pipeline} #${row.number} on ${row.branch} (${row.seenAt.slice(0, 10)})`,
  );
  const text = `The same failure was seen before in ${listed(builds)}.`;
  return { isSure, claim: { text, evidence: named.map(({ id }) => id), quotes: [] } };
}

/** Returns rows of this repository with this fingerprint, from earlier builds and other commits. */
function sameFailure(item: Evidence, { build, fingerprint }: TriageSubject): { id: string; row: Row }[] {
  if (item.tool !== 'read_failure_history' && item.tool !== 'find_similar_failures') return [];
  const row = Row.safeParse(item.data ?? {}).data;
  if (row === undefined || row.fingerprint !== fingerprint.value || row.repository !== build.repository)
    return [];
  const isEarlier = Date.parse(row.seenAt) < Date.parse(build.receivedAt);
  const isOther = row.buildId !== build.id && (row.commit === null || row.commit !== build.commit);
  return isEarlier && isOther ? [{ id: item.id, row }] : [];
}

/** A commit that touched a file, as a code tool found it. */
export interface Touch {
  readonly evidenceId: string;
  /** "read_blame", "changed_since_green", "read_commit_diff", "read_commit_history", "read_past_fixes". */
  readonly tool: string;
  readonly path: string;
  /** Ranges of lines, 1-based and inclusive. Empty if the whole file is meant. */
  readonly lines: readonly (readonly [number, number])[];
  readonly commit: string | null;
  readonly author: string | null;
  /** The time at which the commit was written. Null if it is not known. */
  readonly at: string | null;
  readonly pullRequest: number | null;
  /** True if the commit deleted lines there. Blame of the remaining lines does not show this. */
  readonly removes: boolean;
  /** True if the commit left the code of the file the same, in another format. */
  readonly formats: boolean;
  /** The changes of the file, without those that only format it. Empty if no patch is shown. */
  readonly changes: readonly LineChange[];
  /** Names that the commit removed and that other lines still use. */
  readonly stillUsed: readonly LeftUse[];
}

const LeftUse = z.object({ name: z.string(), path: z.string(), line: z.int() });
type LeftUse = z.infer<typeof LeftUse>;

/** The facts about the repository that the code tools found. */
export interface RepositoryFacts {
  readonly touches: readonly Touch[];
  /**
   * Files that changed since the last green build, or only in the built commit if no green build is known.
   * Null if no tool checked it.
   */
  readonly changed: {
    readonly paths: readonly string[];
    readonly count: number;
    /** True if the list contains everything that changed since the build last worked. */
    readonly isWhole: boolean;
    readonly sinceGreen: boolean;
  } | null;
  /** Files that were changed when the same failure was fixed before. */
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
/** A file of the repository that the failure leads to, and the words that lead to it. */
export type FoundFile = z.infer<typeof FoundFile>;

const Data = z.object({
  path: text,
  commit: text,
  sha: text,
  author: text,
  at: text,
  pullRequest: field(z.int()),
  lines: field(z.array(z.tuple([z.number(), z.number()]))),
  files: field(z.array(z.string())),
  fileCount: field(z.int()),
  truncated: field(z.boolean()),
  sinceGreen: field(z.boolean()),
  found: field(z.array(FoundFile)),
  missing: field(z.array(z.string())),
  stillUsed: field(z.array(LeftUse)),
  removes: field(z.boolean()),
  formats: field(z.boolean()),
  additions: field(z.int()),
  deletions: field(z.int()),
});
type Data = z.infer<typeof Data>;

const TOUCHING: ReadonlySet<string> = new Set([
  'read_blame',
  'changed_since_green',
  'read_commit_diff',
  'read_commit_history',
  'read_past_fixes',
]);

/**
 * Reads the structured part of what the code tools found. Anything that does not fit the schema is left out.
 */
export function readRepositoryFacts(evidence: readonly Evidence[]): RepositoryFacts {
  const read = evidence.map((item) => ({ item, data: Data.parse(item.data ?? {}) }));
  const all = read.flatMap(({ item, data }) =>
    TOUCHING.has(item.tool) ? (readTouch(item, data) ?? []) : [],
  );
  const formatting = all.filter(({ formats }) => formats);
  // A commit that only formatted a file is not shown as one that touched it.
  const touches = all.filter(
    ({ path, commit }) => !formatting.some((one) => one.path === path && one.commit === commit),
  );
  const isFormatted = (path: string) =>
    formatting.some((one) => one.path === path && one.tool === 'changed_since_green') &&
    !touches.some((one) => one.path === path && one.tool === 'changed_since_green');
  const lists = (tool: string) =>
    read.filter(({ item, data }) => item.tool === tool && data.fileCount !== null && data.files !== null);
  const changed = lists('changed_since_green')[0]?.data;
  const found = read.find(({ item }) => item.tool === 'find_files')?.data;
  return {
    touches,
    changed:
      changed?.files == null
        ? null
        : {
            paths: changed.files.filter((path) => !isFormatted(path)),
            count: changed.fileCount ?? changed.files.length,
            isWhole: changed.truncated !== true && changed.sinceGreen !== false,
            sinceGreen: changed.sinceGreen !== false,
          },
    found: found?.found ?? [],
    missing: found?.missing ?? [],
    mended: lists('read_past_fixes').flatMap(({ data }) => data.files ?? []),
    paths: [
      ...new Set(
        read.flatMap(({ item, data }) =>
          CODE_TOOLS.has(item.tool) ? [data.path ?? [], data.files ?? []].flat() : [],
        ),
      ),
    ],
  };
}

/**
 * Returns the repository path that a path of the log refers to, if the tools have seen exactly one that fits,
 * or the longest one with which a path of the machine ends. Returns the log's path otherwise.
 */
export function resolveRepositoryPath(path: string, { paths }: Pick<RepositoryFacts, 'paths'>): string {
  const fitting = paths.filter((one) => one === path || one.endsWith(`/${path}`));
  if (fitting.length === 1) return fitting[0] ?? path;
  const ending = paths.filter((one) => one.includes('/') && path.endsWith(`/${one}`));
  const [longest = path] = ending.toSorted((left, right) => right.length - left.length);
  return fitting.length > 1 ? path : longest;
}

/** Lists the commits that touched a file. */
export function listTouches(path: string, { touches }: Pick<RepositoryFacts, 'touches'>): readonly Touch[] {
  return touches.filter((touch) => isSameFile(touch.path, path));
}

const CODE_TOOLS: ReadonlySet<string> = new Set([
  ...TOUCHING,
  'read_file',
  'read_test_file',
  'search_code',
  'search_semantic',
]);

function readTouch(item: Evidence, data: Data): Touch | null {
  const path =
    data.path ??
    (item.source.startsWith('commit/') || item.source.startsWith('compare/') ? null : item.source);
  if (path === null) return null;
  const shown =
    item.lineStart === undefined ? [] : [[item.lineStart, item.lineEnd ?? item.lineStart] as const];
  const all = readChanges(item.text);
  const changes = readAlterations(item.text, path);
  const kept = new Set(changes.map(({ oldLine }) => oldLine));
  const formatted = all
    .filter(({ oldLine }) => !kept.has(oldLine))
    .map((one) => findChangedRange(one).join());
  return {
    evidenceId: item.id,
    tool: item.tool,
    path,
    lines: (data.lines ?? shown).filter((range) => !formatted.includes(range.join())),
    commit: data.commit ?? data.sha,
    author: data.author,
    at: data.at,
    pullRequest: data.pullRequest,
    removes: data.removes === true,
    formats: data.formats === true || isOnlyFormatting(item.text, path, data),
    changes,
    stillUsed: data.stillUsed ?? [],
  };
}
