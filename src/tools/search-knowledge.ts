import { CATEGORIES } from '../domain/category.ts';
import type { Finding } from '../domain/evidence.ts';
import type { VectorIndex, VectorMatch } from '../ports/vector-index.ts';
import { failureHeadline, failureText, tellingLines } from './failure-text.ts';
import { retrievalParameters } from './retrieval-parameters.ts';
import { defineTool, type Tool } from './tool.ts';

/** Lines of the failure that are looked up, each by itself. */
const MAX_LINES = 8;
/** Passages taken per line. */
const PER_LINE = 10;
/** Each further line counts this much less: a failure says first what matters most. */
const LATER = 0.03;

const Parameters = retrievalParameters('Only documents of this category');

/** Which curated document describes this kind of failure? */
export function searchKnowledge(vectorIndex: VectorIndex): Tool {
  return defineTool({
    name: 'search_knowledge',
    question: 'Which curated document describes this kind of failure, its causes and its fixes?',
    categories: CATEGORIES,
    always: true,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `vector-index:${vectorIndex.driver}`,
    parameters: Parameters,
    alternative: { tool: 'search_web', args: (_call, subject) => ({ query: failureHeadline(subject) }) },
    async run({ query, category, limit }, { subject, signal }) {
      const asked = query ?? failureText(subject);
      const telling = tellingLines(asked).slice(0, MAX_LINES);
      const lines = telling.length > 0 || asked === '' ? telling : [asked];
      const filter = category === undefined ? {} : { filter: { category } };
      const matches = await Promise.all(lines.map((text) => vectorIndex.search('knowledge', { text, limit: PER_LINE, ...filter }, signal)));
      const best = bestPassages(matches).slice(0, limit);
      return Promise.all(best.map(async (passage) => findingOf(passage, await wholeText(vectorIndex, passage.match, signal))));
    },
  });
}

interface Passage {
  readonly documentId: string;
  readonly match: VectorMatch;
  readonly score: number;
}

/** Each document by its best passage for any line, best first. */
function bestPassages(matches: readonly (readonly VectorMatch[])[]): Passage[] {
  const best = new Map<string, Passage>();
  for (const [index, ofLine] of matches.entries()) {
    for (const match of ofLine) {
      const documentId = documentIdOf(match);
      const score = Math.min(Math.max(match.score * (1 - LATER * index), 0), 1);
      if (score > (best.get(documentId)?.score ?? 0)) best.set(documentId, { documentId, match, score });
    }
  }
  return [...best.values()].sort((left, right) => right.score - left.score);
}

/** The document that a passage is of, to be read whole. */
async function wholeText(vectorIndex: VectorIndex, match: VectorMatch, signal: AbortSignal): Promise<string> {
  if (match.metadata.part !== 'signal') return match.text;
  const filter = { documentId: documentIdOf(match), part: 'document' };
  const [whole] = await vectorIndex.search('knowledge', { text: match.text, limit: 1, filter }, signal);
  return whole?.text ?? match.text;
}

function documentIdOf(match: VectorMatch): string {
  const { documentId } = match.metadata;
  return typeof documentId === 'string' ? documentId : match.id;
}

function findingOf({ documentId, match, score }: Passage, text: string): Finding {
  const { title, category, kind, fix, part } = match.metadata;
  const phrase = part === 'signal' ? { matchedPhrase: match.text } : {};
  return {
    title: `${documentId}: ${title ?? documentId}`,
    text,
    source: `knowledge/${documentId}`,
    score,
    data: { documentId, category, kind, title, fix, ...phrase },
  };
}
