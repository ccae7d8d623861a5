import type { FindingFrom } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NAMES, sumWeights, weighWords } from '../log/fingerprint/distinctive.ts';
import {
  type ComparedFailure,
  compareFailures,
  LIKENESS,
  toComparedFailure,
} from '../log/fingerprint/failure-likeness.ts';
import type { VectorIndex, VectorMatch } from '../ports/vector-index.ts';
import { formatFailureText } from './findings.ts';
import { createRetrievalParameters } from './retrieval-parameters.ts';
import { ANY_CATEGORY, defineTool, type RepositoryScope, type Tool } from './tool.ts';

/** The maximum number of failures that are compared. Failures of one cause are alike. */
const MAX_FAILURES = 3;
/**
 * The number of additional matches that are requested, because some are not similar enough or belong to
 * repositories that are not visible.
 */
const MORE = 30;

/** The maximum similarity that the words of a query can give. It is enough for the failure to be shown. */
const BY_QUERY = 0.7;

const Parameters = createRetrievalParameters('Only failures that were decided to be of this category');

/**
 * Creates the tool that finds what people decided about similar failures. The index only chooses candidates.
 * Their similarity is computed from the text of the two failures, never from the words of a query. A failure
 * below `LIKENESS.shown` is not a precedent. `data.proposes` says that a precedent is similar enough for its
 * category, cause and fix to be proposed.
 */
export function searchErrorLibrary(vectorIndex: VectorIndex, scope: RepositoryScope): Tool {
  return defineTool({
    name: 'search_error_library',
    question: 'Has a person already decided a failure like this one, and what was its cause?',
    serves: ANY_CATEGORY,
    investigator: 'documents',
    asks: 'knowledge',
    precedence: 2,
    always: true,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `vector-index:${vectorIndex.driver}`,
    isEmptyFinal: true,
    parameters: Parameters,
    argumentsFrom: () => ({ limit: 5 }),
    async run({ query, category, limit }, { subject, signal }) {
      const compared = subject.failures.slice(0, MAX_FAILURES).map(toComparedFailure);
      const filter = category === undefined ? {} : { filter: { category } };
      const search = (text: string, more: Record<string, string> = {}) =>
        vectorIndex.search(
          'error_library',
          { text, limit: limit + MORE, filter: { ...filter.filter, ...more } },
          signal,
        );
      const isVisible = await scope(subject.build.repository);
      const ofTests = compared.flatMap(({ text, test }) =>
        test === null || text === '' ? [] : [search(text, { test })],
      );
      const matches = await Promise.all([
        ...buildTexts(subject, compared, query).map((text) => search(text)),
        ...ofTests,
      ]);
      const unique = [...new Map(matches.flat().map((match) => [match.id, match])).values()];
      return unique
        .filter(({ metadata }) => isVisible(String(metadata.repository)))
        .map((match) => ({
          match,
          score: Math.max(computeLikeness(compared, match), compareQuery(query, match)),
        }))
        .filter(({ score }) => score >= LIKENESS.shown)
        .sort((left, right) => right.score - left.score || compareIds(left.match, right.match))
        .slice(0, limit)
        .map(({ match, score }) => convertFindingOfLibrary(match, score, subject.build.repository));
    },
  });
}

function compareIds(left: VectorMatch, right: VectorMatch): number {
  return left.id < right.id ? 1 : -1;
}

/** Returns the texts by which candidates are found: each failure's message, its whole text, and the query. */
function buildTexts(
  subject: TriageSubject,
  failures: readonly ComparedFailure[],
  query: string | undefined,
): string[] {
  const ownTexts = failures.flatMap(({ text }) => [text.split('\n\n', 1)[0] ?? '', text]);
  return [...new Set([...ownTexts, formatFailureText(subject), query ?? ''])].filter((text) => text !== '');
}

function computeLikeness(failures: readonly ComparedFailure[], { text, metadata }: VectorMatch): number {
  const decided = { text, test: typeof metadata.test === 'string' ? metadata.test : null };
  return failures.reduce(
    (best, comparedFailure) => Math.max(best, compareFailures(comparedFailure, decided)),
    0,
  );
}

/**
 * Returns the share of a query's distinctive words that an entry has. Even the highest share is not enough to
 * propose anything.
 */
function compareQuery(query: string | undefined, { text }: VectorMatch): number {
  const asked = weighWords(query ?? '');
  const all = sumWeights(asked);
  return all < NAMES ? 0 : Math.min(sumWeights(asked, weighWords(text)) / all, BY_QUERY);
}

/**
 * Converts a library match to a finding. `sameRepository` says whether the decision was made in this
 * repository.
 */
function convertFindingOfLibrary(
  match: VectorMatch,
  score: number,
  repository: string,
): FindingFrom<'search_error_library'> {
  const { title, confirmedBy, fixRecommendation } = match.metadata;
  const fix = typeof fixRecommendation === 'string' ? `\n\nFix: ${fixRecommendation}` : '';
  return {
    title: `${title ?? match.id}${confirmedBy === undefined ? '' : `, confirmed by ${confirmedBy}`}`,
    text: match.text + fix,
    source: `error-library/${match.id}`,
    score,
    data: {
      ...match.metadata,
      entryId: match.id,
      sameRepository: match.metadata.repository === repository,
      proposes: score >= LIKENESS.proposes,
    },
  };
}
