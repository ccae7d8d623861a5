import { z } from 'zod';
import { Category, Kind } from '../domain/category.ts';
import type { Evidence } from '../domain/evidence.ts';

/** A knowledge document or a person's earlier decision, as a tool found it. */
export interface Retrieved {
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
