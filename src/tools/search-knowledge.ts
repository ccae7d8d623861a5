import { CATEGORIES, type Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import type { TeamKnowledgeStore } from '../ports/knowledge.ts';
import type { SemanticIndex, VectorIndex } from '../ports/vector-index.ts';
import { failureHeadline, failureText, tellingLines } from './failure-text.ts';
import { fuse } from './knowledge/fuse.ts';
import { bestOfDocuments, curatedPassage, embeddedTeamPassage, findingOf, type Passage, teamPassage } from './knowledge/passages.ts';
import { retrievalParameters } from './retrieval-parameters.ts';
import { defineTool, type Tool } from './tool.ts';

/** Lines of the failure that are looked up, each by itself. */
const MAX_LINES = 8;
/** Passages taken per line. */
const PER_LINE = 10;
/** Each further line counts this much less: a failure says first what matters most. */
const LATER = 0.03;
/** Of a line's words a team's passage says at least so many, or it is not about it. */
const LEAST_SAID = 0.35;
/** Passages taken by meaning, as long as they are more like the question than chance. */
const BY_MEANING = 20;
const LEAST_LIKE = 0.2;
/** Words answer at once; nobody waits long for meaning. Milliseconds. */
const MEANING_MS = 5_000;

const Parameters = retrievalParameters('Only documents of this category');

/** Where knowledge is found beside the curated documents; what is absent is not searched. */
export interface KnowledgeSources {
  readonly team?: TeamKnowledgeStore | undefined;
  readonly semantic?: SemanticIndex | null | undefined;
}

/**
 * Which curated document, or which passage of the team's own, describes this kind of failure? Words are always compared; where an embedding
 * model is configured, meaning is too, and both orders are fused by reciprocal ranks. The score is the better of the two likenesses, never
 * the fused rank: 0.75 says, as ever, that most of a line of the failure stands in the document. Where the model cannot be asked, words
 * alone answer, and each finding's `data.note` says so.
 */
export function searchKnowledge(vectorIndex: VectorIndex, { team, semantic }: KnowledgeSources = {}): Tool {
  return defineTool({
    name: 'search_knowledge',
    question: 'Which curated document or runbook of the team describes this kind of failure, its causes and its fixes?',
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
      const [byWords, byMeaning] = await Promise.all([
        findByWords(vectorIndex, team, lines, category, signal),
        semantic ? findByMeaning(semantic, lines.join('\n'), category, signal) : { passages: [], note: null },
      ]);
      const best = fuse(byMeaning.passages.length === 0 ? [byWords] : [byWords, byMeaning.passages]).slice(0, limit);
      const findings = await Promise.all(best.map((passage) => findingOf(passage, vectorIndex, signal)));
      const { note } = byMeaning;
      return findings
        .filter((finding) => finding !== null)
        .map((finding) => (note === null ? finding : { ...finding, data: { ...finding.data, note } }));
    },
  });
}

async function findByWords(
  index: VectorIndex,
  team: TeamKnowledgeStore | undefined,
  lines: readonly string[],
  category: Category | undefined,
  signal: AbortSignal,
): Promise<Passage[]> {
  const filter = category === undefined ? {} : { filter: { category } };
  const ofLines = await Promise.all(
    lines.map(async (text, line) => {
      const weight = 1 - LATER * line;
      const [curated, own] = await Promise.all([
        index.search('knowledge', { text, limit: PER_LINE, ...filter }, signal),
        team?.search({ text, limit: PER_LINE, ...(category === undefined ? {} : { category }) }) ?? [],
      ]);
      const said = own.filter(({ score }) => score >= LEAST_SAID);
      return [
        ...curated.map((match) => curatedPassage(match, match.score * weight)),
        ...said.map((match) => teamPassage(match, match.score * weight)),
      ];
    }),
  );
  return bestOfDocuments(ofLines.flat());
}

async function findByMeaning(
  index: SemanticIndex,
  text: string,
  category: Category | undefined,
  signal: AbortSignal,
): Promise<{ passages: Passage[]; note: string | null }> {
  if (text === '') return { passages: [], note: null };
  const query = { text, limit: BY_MEANING, ...(category === undefined ? {} : { filter: { category } }) };
  const limit = AbortSignal.timeout(MEANING_MS);
  const either = AbortSignal.any([signal, limit]);
  try {
    const [curated, own] = await Promise.all([index.search('knowledge', query, either), index.search('team_knowledge', query, either)]);
    const found = [...curated.map((match) => curatedPassage(match)), ...own.map(embeddedTeamPassage)];
    return { passages: bestOfDocuments(found.filter(({ score }) => score >= LEAST_LIKE)), note: null };
  } catch (error) {
    if (signal.aborted || !(error instanceof TriageError)) throw error;
    const why = limit.aborted ? `The embedding server did not answer within ${MEANING_MS / 1000} s` : error.message;
    return { passages: [], note: `Found by words only: ${why}` };
  }
}
