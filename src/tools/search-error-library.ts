import { CATEGORIES } from '../domain/category.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { likenessOf, likenessText, NEAR } from '../log/recognise/likeness.ts';
import type { VectorIndex, VectorMatch } from '../ports/vector-index.ts';
import { failureText } from './failure-text.ts';
import { retrievalParameters } from './retrieval-parameters.ts';
import type { Sight } from './sight.ts';
import { defineTool, type Tool } from './tool.ts';

/** Failures of one cause say the same: a few are enough. */
const MAX_MESSAGES = 3;
/** Asked for beside, since some may be of repositories that are not to be seen. */
const HIDDEN = 20;

const Parameters = retrievalParameters('Only failures that were decided to be of this category');

/** Has a person already decided a failure like this one? What is less alike than `NEAR` is no precedent. */
export function searchErrorLibrary(vectorIndex: VectorIndex, sight: Sight): Tool {
  return defineTool({
    name: 'search_error_library',
    question: 'Has a person already decided a failure like this one, and what was its cause?',
    categories: CATEGORIES,
    always: true,
    costClass: 'low',
    usualLatencyMs: 200,
    provider: `vector-index:${vectorIndex.driver}`,
    parameters: Parameters,
    async run({ query, category, limit }, { subject, signal }) {
      const texts = query === undefined ? textsOf(subject) : [query];
      const filter = category === undefined ? {} : { filter: { category } };
      const sees = await sight(subject.build.repository);
      const matches = await Promise.all(
        texts.map((text) => vectorIndex.search('error_library', { text, limit: limit + HIDDEN, ...filter }, signal)),
      );
      return best(matches.flat())
        .filter(({ score, metadata }) => score >= NEAR && sees(String(metadata.repository)))
        .slice(0, limit)
        .map((match) => findingOf(match, subject.build.repository));
    },
  });
}

/**
 * An entry holds the likeness text of one failure, so each failure's own is compared by itself; its message too, since the lines
 * around it may be others by now; and all that is known as a whole. Single lines of the log are not: a line that many failures share
 * must not look like a precedent.
 */
function textsOf(subject: TriageSubject): string[] {
  const own = subject.failures.slice(0, MAX_MESSAGES).flatMap((failure) => [failure.message.trim(), likenessText(likenessOf(failure))]);
  return [...new Set([...own, failureText(subject)])].filter((text) => text !== '');
}

/** Each entry with its best score, best first. */
function best(matches: readonly VectorMatch[]): VectorMatch[] {
  const sorted = [...matches].sort((left, right) => right.score - left.score);
  return sorted.filter((match, index) => sorted.findIndex((other) => other.id === match.id) === index);
}

/** `sameRepository` lets a judge give precedents of this repository more weight than those of others. */
function findingOf(match: VectorMatch, repository: string) {
  const { title, confirmedBy } = match.metadata;
  return {
    title: `${title ?? match.id}${confirmedBy === undefined ? '' : `, confirmed by ${confirmedBy}`}`,
    text: match.text,
    source: `error-library/${match.id}`,
    score: Math.min(Math.max(match.score, 0), 1),
    data: { ...match.metadata, entryId: match.id, sameRepository: match.metadata.repository === repository },
  };
}
