import type { Claim } from '../domain/analysis.ts';
import type { Category, Kind } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import {
  type EvidenceFrom,
  type FoundFile,
  type LeftUse,
  listEvidenceFrom,
  type Retrieved as RetrievedData,
} from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import {
  findChangedRange,
  isOnlyFormatting,
  type LineChange,
  readAlterations,
  readChanges,
} from '../lib/patch-changes.ts';
import { isSameFile } from './places.ts';
import { joinWords } from './wording.ts';

/** A knowledge document or a person's earlier decision that a tool found. */
export interface Retrieved
  extends Omit<RetrievedData, 'fixRecommendation' | 'matchedPhrase' | 'proposes' | 'fingerprint'> {
  readonly proposes: boolean;
  readonly evidence: Evidence;
  /** The text that matched: a line of a curated document, or the whole passage. */
  readonly phrase: string;
  readonly score: number;
}

/** The minimum similarity at which a decision proposes its cause, if the tool that found it sets none. */
const ALIKE = 0.75;

const RETRIEVERS = ['search_knowledge', 'search_error_library'] as const;

/** Lists everything that was retrieved from the knowledge base and the error library, best score first. */
export function listRetrieved(evidence: readonly Evidence[]): readonly Retrieved[] {
  const found = listEvidenceFrom(evidence, RETRIEVERS).map(read);
  return found.sort((left, right) => right.score - left.score);
}

/** Returns the best similarity of anything retrieved, or 0 if nothing was. */
export function computeRetrievalScore(evidence: readonly Evidence[]): number {
  return listRetrieved(evidence)[0]?.score ?? 0;
}

/**
 * Returns the best decision of a person that is similar enough to propose its cause, and fits the category.
 * Returns null if there is none.
 */
export function findConfirmedEntry(evidence: readonly Evidence[], category: Category): Retrieved | null {
  return listDecisions(evidence).find((item) => item.category === category && item.proposes) ?? null;
}

/**
 * Returns the best decision of a person about a similar failure that is not similar enough to propose its
 * cause. Returns null if there is none, or if a better one proposes its cause.
 */
export function findPrecedent(evidence: readonly Evidence[]): Retrieved | null {
  const [best] = listDecisions(evidence);
  return best === undefined || best.proposes ? null : best;
}

/** Lists what people decided about similar failures, most similar first. */
export function listDecisions(evidence: readonly Evidence[]): readonly Retrieved[] {
  return listRetrieved(evidence).filter((item) => item.confirmedBy !== null);
}

/** Returns the best document of the team that names this error. Returns null if there is none. */
export function findNamingDocument(evidence: readonly Evidence[]): Retrieved | null {
  return listRetrieved(evidence).find((item) => item.named !== null && isTeamDocument(item.evidence)) ?? null;
}

/** Checks whether a document is the team's own. */
export function isTeamDocument({ source }: Pick<Evidence, 'source'>): boolean {
  return source.startsWith('team-knowledge/');
}

/**
 * Returns the best curated document of the same kind, or else one of the same category with a high score.
 * Returns null if there is none.
 */
export function findFittingDocument(
  evidence: readonly Evidence[],
  category: Category,
  kind: Kind,
): Retrieved | null {
  const documents = listRetrieved(evidence).filter(
    (item) => item.confirmedBy === null && item.evidence.tool === 'search_knowledge',
  );
  const sameKind = documents.find((item) => item.kind === kind && item.score >= 0.2);
  return sameKind ?? documents.find((item) => item.category === category && item.score >= 0.6) ?? null;
}

function read(found: EvidenceFrom<(typeof RETRIEVERS)[number]>): Retrieved {
  const { tool, item: evidence } = found;
  const { fixRecommendation, matchedPhrase, proposes, fingerprint, ...data } = found.data;
  const isOwn = data.named !== null && isTeamDocument(evidence);
  return {
    ...data,
    evidence,
    phrase: matchedPhrase ?? evidence.text,
    proposes: proposes ?? (evidence.score ?? 0) >= ALIKE,
    score: evidence.score ?? 0,
    confirmedBy: tool === 'search_error_library' ? data.confirmedBy : null,
    fix: fixRecommendation ?? data.fix ?? (isOwn ? null : findSection(evidence.text, FIX_HEADING)),
  };
}

const FIX_HEADING = /^#{0,4}\s*(?:fix|fixes|how to fix|what to do)\b[:\s]*/i;

/** Returns the paragraph under a heading of a Markdown text. Returns null if there is none. */
function findSection(text: string, heading: RegExp): string | null {
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

/** A failure of an earlier build with the data of that build. */
type Row = {
  readonly [Key in 'pipeline' | 'number' | 'branch' | 'buildId' | 'seenAt']: string;
} & { readonly commit: string | null };

/**
 * The usual names of branches into which all changes are merged. A build does not state the default branch.
 */
const SHARED = /^(?:main|master|trunk|default)$/;
const MAX_NAMED = 3;

/**
 * Checks whether the same failure (equal fingerprint, same repository) occurred in earlier builds of other
 * branches, so that this change did not cause it. `isSure` is true if it occurred on a shared branch or on
 * several other branches; a single topic branch may contain the same change. Returns null if it did not
 * occur, if the fingerprint is too generic, or if the build names no branch.
 */
export function findSeenElsewhere(
  subject: TriageSubject,
  evidence: readonly Evidence[],
): { readonly isSure: boolean; readonly claim: Claim } | null {
  const { branch } = subject.build;
  if (subject.generic || branch === null) return null;
  const rows = listSameFailures(evidence, subject);
  const others = rows.filter(({ row }) => row.branch !== branch);
  const chosen = SHARED.test(branch)
    ? rows.filter(({ row }) => row.commit !== null && row.commit !== subject.build.commit)
    : others;
  if (chosen.length === 0) return null;
  const shared = chosen.filter(({ row }) => SHARED.test(row.branch));
  const isSure = shared.length > 0 || new Set(chosen.map(({ row }) => row.branch)).size > 1;
  const named = [...shared, ...chosen.filter((test) => !shared.includes(test))].slice(0, MAX_NAMED);
  const builds = named.map(
    ({ row }) => `${row.pipeline} #${row.number} on ${row.branch} (${row.seenAt.slice(0, 10)})`,
  );
  const text = `The same failure was seen before in ${joinWords(builds)}.`;
  return { isSure, claim: { text, evidence: named.map(({ id }) => id), quotes: [] } };
}

/** Returns rows of this repository with this fingerprint, from earlier builds and other commits. */
function listSameFailures(
  evidence: readonly Evidence[],
  { build, fingerprint }: TriageSubject,
): { id: string; row: Row }[] {
  const past = listEvidenceFrom(evidence, ['read_failure_history', 'find_similar_failures']);
  return past.flatMap(({ item: { id }, data }) => {
    const { pipeline, number, branch, buildId, seenAt, commit } = data;
    if (data.fingerprint !== fingerprint.value || data.repository !== build.repository) return [];
    if (pipeline === null || number === null || branch === null || buildId === null || seenAt === null)
      return [];
    const isEarlier = Date.parse(seenAt) < Date.parse(build.receivedAt);
    const isOther = buildId !== build.id && (commit === null || commit !== build.commit);
    return isEarlier && isOther ? [{ id, row: { pipeline, number, branch, buildId, seenAt, commit } }] : [];
  });
}

/** A commit that touched a file, as a code tool reported it. */
export interface Touch {
  readonly evidenceId: string;
  /**
   * The name of the tool: "read_blame", "changed_since_green", "read_commit_diff", "read_commit_history", or
   * "read_past_fixes".
   */
  readonly tool: string;
  readonly path: string;
  /** The ranges of lines, 1-based and inclusive. Empty if the whole file is meant. */
  readonly lines: readonly (readonly [number, number])[];
  readonly commit: string | null;
  readonly author: string | null;
  /** The time of the commit; null if unknown. */
  readonly at: string | null;
  readonly pullRequest: number | null;
  /** True if the commit deleted lines there. Blame of the remaining lines does not show this. */
  readonly removes: boolean;
  /** True if the commit only formatted the file. */
  readonly formats: boolean;
  /** The changes of the file, without those that only format it. Empty if the patch is unknown. */
  readonly changes: readonly LineChange[];
  /** Names that the commit removed and that other lines still use. */
  readonly stillUsed: readonly LeftUse[];
}

/** The facts about the repository that the code tools found. */
export interface RepositoryFacts {
  readonly touches: readonly Touch[];
  /**
   * The files that changed since the last passing build, or in the built commit if no passing build is known.
   * Null if no tool checked it.
   */
  readonly changed: {
    readonly paths: readonly string[];
    readonly count: number;
    /** True if the list contains all changes since the last passing build. */
    readonly isWhole: boolean;
    readonly sinceGreen: boolean;
  } | null;
  /** The files that were changed when the same failure was fixed before. */
  readonly fixingFiles: readonly string[];
  /** The files that were found from the log, the failed step, the failing tests' imports, or by guessing. */
  readonly found: readonly FoundFile[];
  /** The paths in the log and guessed paths that do not exist in the repository. */
  readonly missing: readonly string[];
  /** The paths of the repository that tools have seen. */
  readonly paths: readonly string[];
}

const TOUCHING = [
  'read_blame',
  'changed_since_green',
  'read_commit_diff',
  'read_commit_history',
  'read_past_fixes',
] as const;
const READING = ['read_file', 'read_test_file', 'search_code', 'search_semantic'] as const;

/** Reads the structured data of the code tools. Data that do not match the schema are left out. */
export function readRepositoryFacts(evidence: readonly Evidence[]): RepositoryFacts {
  const touching = listEvidenceFrom(evidence, TOUCHING);
  const all = touching.flatMap((other) => readTouch(other) ?? []);
  const formatting = all.filter(({ formats }) => formats);
  // A commit that only formatted a file does not count as touching it.
  const touches = all.filter(
    ({ path, commit }) => !formatting.some((touch) => touch.path === path && touch.commit === commit),
  );
  const isFormatted = (path: string) =>
    formatting.some((touch) => touch.path === path && touch.tool === 'changed_since_green') &&
    !touches.some((touch) => touch.path === path && touch.tool === 'changed_since_green');
  const lists = (tool: (typeof TOUCHING)[number]) =>
    touching.filter(
      (other) => other.tool === tool && other.data.fileCount !== null && other.data.files !== null,
    );
  const changed = lists('changed_since_green')[0]?.data;
  const [found] = listEvidenceFrom(evidence, ['find_files']);
  const files = listEvidenceFrom(evidence, [...TOUCHING, ...READING]).flatMap(({ data }) =>
    [data.path ?? [], 'files' in data ? (data.files ?? []) : []].flat(),
  );
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
    found: found?.data.found ?? [],
    missing: found?.data.missing ?? [],
    fixingFiles: lists('read_past_fixes').flatMap(({ data }) => data.files ?? []),
    paths: [...new Set(files)],
  };
}

/**
 * Returns the repository path that a path in the log means: the only one seen by the tools that matches, or
 * the longest one with which an absolute path ends. If there is none, returns the path unchanged.
 */
export function resolveRepositoryPath(path: string, { paths }: Pick<RepositoryFacts, 'paths'>): string {
  const fitting = paths.filter((other) => other === path || other.endsWith(`/${path}`));
  if (fitting.length === 1) return fitting[0] ?? path;
  const ending = paths.filter((other) => other.includes('/') && path.endsWith(`/${other}`));
  const [longest = path] = ending.toSorted((left, right) => right.length - left.length);
  return fitting.length > 1 ? path : longest;
}

/** Lists the commits that touched a file. */
export function listTouches(path: string, { touches }: Pick<RepositoryFacts, 'touches'>): readonly Touch[] {
  return touches.filter((touch) => isSameFile(touch.path, path));
}

function readTouch({ item, data }: EvidenceFrom<(typeof TOUCHING)[number]>): Touch | null {
  const path =
    data.path ??
    (item.source.startsWith('commit/') || item.source.startsWith('compare/') ? null : item.source);
  if (path === null) return null;
  const ranges =
    item.lineStart === undefined ? [] : [[item.lineStart, item.lineEnd ?? item.lineStart] as const];
  const all = readChanges(item.text);
  const changes = readAlterations(item.text, path);
  const kept = new Set(changes.map(({ oldLine }) => oldLine));
  const formatted = all
    .filter(({ oldLine }) => !kept.has(oldLine))
    .map((lineChange) => findChangedRange(lineChange).join());
  return {
    evidenceId: item.id,
    tool: item.tool,
    path,
    lines: (data.lines ?? ranges).filter((range) => !formatted.includes(range.join())),
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
