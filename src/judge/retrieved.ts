import { z } from 'zod';
import type { Claim } from '../domain/analysis.ts';
import { Category, Kind } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';

/** A knowledge document or a person's earlier decision, as a tool found it. */
interface Retrieved {
  readonly evidence: Evidence;
  readonly score: number;
  readonly category: Category | null;
  readonly kind: Kind | null;
  /** Set only where a person confirmed it. */
  readonly confirmedBy: string | null;
  readonly rootCause: string | null;
  readonly fix: string | null;
}

const Data = z.object({
  category: Category.optional().catch(undefined),
  kind: Kind.optional().catch(undefined),
  confirmedBy: z.string().nullish().catch(null),
  rootCause: z.string().nullish().catch(null),
  fixRecommendation: z.string().nullish().catch(null),
  fix: z.string().nullish().catch(null),
});

const RETRIEVERS: ReadonlySet<string> = new Set(['search_knowledge', 'search_error_library']);

/** Everything retrieved from knowledge base and error library, best score first. */
export function retrievedFrom(evidence: readonly Evidence[]): readonly Retrieved[] {
  const found = evidence.filter((item) => RETRIEVERS.has(item.tool)).map(read);
  return found.sort((left, right) => right.score - left.score);
}

/** Best similarity of anything retrieved, 0 where nothing was. */
export function retrievalScore(evidence: readonly Evidence[]): number {
  return retrievedFrom(evidence)[0]?.score ?? 0;
}

/** The best decision of a person among what was retrieved, where it fits the category. */
export function confirmedEntry(evidence: readonly Evidence[], category: Category): Retrieved | null {
  return retrievedFrom(evidence).find((item) => item.confirmedBy !== null && item.category === category && item.score >= 0.75) ?? null;
}

/** The best curated document of the same kind, or else of the same category with a good score. */
export function fittingDocument(evidence: readonly Evidence[], category: Category, kind: Kind): Retrieved | null {
  const documents = retrievedFrom(evidence).filter((item) => item.confirmedBy === null && item.evidence.tool === 'search_knowledge');
  const sameKind = documents.find((item) => item.kind === kind && item.score >= 0.2);
  return sameKind ?? documents.find((item) => item.category === category && item.score >= 0.6) ?? null;
}

function read(evidence: Evidence): Retrieved {
  const data = Data.safeParse(evidence.data ?? {}).data ?? {};
  return {
    evidence,
    score: evidence.score ?? 0,
    category: data.category ?? null,
    kind: data.kind ?? null,
    confirmedBy: evidence.tool === 'search_error_library' ? (data.confirmedBy ?? null) : null,
    rootCause: data.rootCause ?? null,
    fix: data.fixRecommendation ?? data.fix ?? section(evidence.text, /^#{0,4}\s*(?:fix|fixes|how to fix|what to do)\b[:\s]*/i),
  };
}

/** The paragraph under a heading of a Markdown text. */
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

/** Branches that everybody's change ends in, by their usual names; the build itself does not say which is the default. */
const SHARED = /^(?:main|master|trunk|default)$/;
const MAX_NAMED = 3;

/** Where the same failure was seen that cannot have this change. */
interface SeenElsewhere {
  /** True where a shared branch or several others had it; one other topic branch alone may have the same change in it. */
  readonly isSure: boolean;
  readonly claim: Claim;
}

/**
 * Whether the very same failure (equal fingerprint, same repository) was seen in earlier builds of other branches: then this change did not
 * bring it. Null where it was not, where the fingerprint is too generic to say "the same", where the build names no branch, and for a
 * failure that only this branch has had.
 */
export function seenElsewhere(subject: TriageSubject, evidence: readonly Evidence[]): SeenElsewhere | null {
  const { branch } = subject.build;
  if (subject.generic || branch === null) return null;
  const rows = evidence.flatMap((item) => sameFailure(item, subject));
  const others = rows.filter(({ row }) => row.branch !== branch);
  const chosen = SHARED.test(branch) ? rows.filter(({ row }) => row.commit !== null && row.commit !== subject.build.commit) : others;
  if (chosen.length === 0) return null;
  const shared = chosen.filter(({ row }) => SHARED.test(row.branch));
  const isSure = shared.length > 0 || new Set(chosen.map(({ row }) => row.branch)).size > 1;
  const named = [...shared, ...chosen.filter((one) => !shared.includes(one))].slice(0, MAX_NAMED);
  return {
    isSure,
    claim: {
      text: sentence(
        named.map(({ row }) => row),
        isSure,
      ),
      evidence: named.map(({ id }) => id),
      quotes: [],
    },
  };
}

function sentence(rows: readonly Row[], isSure: boolean): string {
  const builds = rows.map(({ pipeline, number, branch, seenAt }) => `${pipeline} #${number} on ${branch} (${seenAt.slice(0, 10)})`);
  const where = builds.length === 1 ? builds.join('') : `${builds.slice(0, -1).join(', ')} and ${builds.at(-1)}`;
  return isSure
    ? `Not your change: the same failure was seen before in ${where}.`
    : `Possibly not your change: the same failure was seen before in ${where}, unless that branch holds the same commits.`;
}

/** Rows of this repository with this fingerprint, of earlier builds and other commits, each build once. */
function sameFailure(item: Evidence, { build, fingerprint }: TriageSubject): { id: string; row: Row }[] {
  if (item.tool !== 'read_failure_history' && item.tool !== 'find_similar_failures') return [];
  const row = Row.safeParse(item.data ?? {}).data;
  if (row === undefined || row.fingerprint !== fingerprint.value || row.repository !== build.repository) return [];
  const isEarlier = Date.parse(row.seenAt) < Date.parse(build.receivedAt);
  const isOther = row.buildId !== build.id && (row.commit === null || row.commit !== build.commit);
  return isEarlier && isOther ? [{ id: item.id, row }] : [];
}

/** So many failures in a row, in the very same way, are no passing trouble. */
const LASTING = 3;

const Streak = z.object({ same: z.int().min(LASTING), firstSameNumber: z.string() });

/** How often in a row a pipeline failed in this very way, and since which build; null for fewer than three times, or where nobody looked. */
export function lastingFailure(evidence: readonly Evidence[]): { readonly times: number; readonly since: string } | null {
  const streak = evidence.flatMap(({ tool, data }) =>
    tool === 'count_consecutive_failures' ? (Streak.safeParse(data).data ?? []) : [],
  )[0];
  return streak === undefined ? null : { times: streak.same, since: streak.firstSameNumber };
}
