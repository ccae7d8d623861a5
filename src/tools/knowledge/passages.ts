import type { Finding } from '../../domain/evidence.ts';
import type { PassageMatch } from '../../ports/knowledge.ts';
import type { VectorIndex, VectorMatch } from '../../ports/vector-index.ts';

/** The best of what one document says to a question, whoever wrote the document. */
export interface Passage {
  /** Of the document. */
  readonly key: string;
  readonly score: number;
  readonly curated: VectorMatch | null;
  readonly team: TeamPassage | null;
}

type TeamPassage = Pick<PassageMatch, 'place' | 'text' | 'document'>;

const FIX = /^(?:fix(?:es)?|how to fix|what to do|resolution|solution|remedy|mitigation|workaround)\b/i;
const MAX_FIX = 600;

/** A passage of a curated document, found by an index. */
export function curatedPassage(match: VectorMatch, score = match.score): Passage {
  return { key: documentIdOf(match), score: bounded(score), curated: match, team: null };
}

/** A passage of a document of the team. */
export function teamPassage(match: TeamPassage, score: number): Passage {
  return { key: match.document.id, score: bounded(score), curated: null, team: match };
}

/** The same, as an index of vectors keeps it. */
export function embeddedTeamPassage({ id, text, metadata, score }: VectorMatch): Passage {
  const of = (field: string) => (typeof metadata[field] === 'string' ? metadata[field] : '');
  const document = { id: of('documentId') || id, source: of('source'), title: of('title'), category: null };
  return teamPassage({ place: of('place'), text, document }, score);
}

/** Each document by its best passage, best first. */
export function bestOfDocuments(passages: Iterable<Passage>): Passage[] {
  const best = new Map<string, Passage>();
  for (const passage of passages) if (passage.score > (best.get(passage.key)?.score ?? 0)) best.set(passage.key, passage);
  return [...best.values()].sort((left, right) => right.score - left.score);
}

/** What an analyst is shown, with its citation. */
export async function findingOf(passage: Passage, index: VectorIndex, signal: AbortSignal): Promise<Finding | null> {
  if (passage.curated !== null) return curatedFinding(passage.curated, passage.score, await wholeText(index, passage.curated, signal));
  return passage.team === null ? null : teamFinding(passage.team, passage.score);
}

function curatedFinding(match: VectorMatch, score: number, text: string): Finding {
  const { title, category, kind, fix, part } = match.metadata;
  const documentId = documentIdOf(match);
  const phrase = part === 'signal' ? { matchedPhrase: match.text } : {};
  return {
    title: `${documentId}: ${title ?? documentId}`,
    text,
    source: `knowledge/${documentId}`,
    score,
    data: { documentId, category, kind, title, fix, ...phrase },
  };
}

function teamFinding({ document, place, text }: TeamPassage, score: number): Finding {
  const { id, source, title, category } = document;
  const fix = FIX.test(place.split(' › ').at(-1) ?? '') ? { fix: text.slice(text.indexOf('\n\n') + 2, MAX_FIX) } : {};
  return {
    title: `${title} (${place})`,
    text,
    source: `team-knowledge/${source}#${place}`,
    score,
    data: { documentId: id, document: source, title, place, ...(category === null ? {} : { category }), ...fix },
  };
}

/** The document that a passage is of, to be read whole. */
async function wholeText(index: VectorIndex, match: VectorMatch, signal: AbortSignal): Promise<string> {
  if (match.metadata.part !== 'signal') return match.text;
  const filter = { documentId: documentIdOf(match), part: 'document' };
  const [whole] = await index.search('knowledge', { text: match.text, limit: 1, filter }, signal);
  return whole?.text ?? match.text;
}

function documentIdOf(match: VectorMatch): string {
  const { documentId } = match.metadata;
  return typeof documentId === 'string' ? documentId : match.id;
}

function bounded(score: number): number {
  return Math.min(Math.max(score, 0), 1);
}
