import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { Finding } from '../domain/evidence.ts';
import type { FailureRow } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { NO_ERROR } from '../log/recognise/failures.ts';
import { type LikenessParts, likenessOf, NEAR, nearMatchIndex } from '../log/recognise/likeness.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { failureHeadline } from './failure-text.ts';
import { historyUnavailable, pastFailure } from './past-failure.ts';
import type { Sight } from './sight.ts';
import { defineTool, type Tool } from './tool.ts';

/** The database names candidates by trigrams, generously; what is alike is decided on all that is known of each. */
const CANDIDATES = { minScore: 0.2, limit: 50 } as const;
const MAX_TEXT = 1_000;

const Parameters = z.strictObject({
  text: z.string().trim().min(3).max(MAX_TEXT).optional().describe("A message; by default the failure's own"),
  minScore: z.number().min(0.1).max(1).default(NEAR).describe('Likeness from which a failure counts; 1 is the same in every part'),
  limit: z.int().min(1).max(20).default(5),
});

/** Which other builds failed with a message like this? */
export function findSimilarFailures(history: HistoryStore, sight: Sight): Tool {
  return defineTool({
    name: 'find_similar_failures',
    question: 'Which other builds, of any repository, failed with a message like this one?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 150,
    provider: 'history',
    unavailable: async () => historyUnavailable(history),
    parameters: Parameters,
    async run({ text, minScore, limit }, { subject }) {
      const asked = text === undefined ? partsOf(subject) : messageAlone(text);
      if (asked.message === null || asked.message.trim() === '' || asked.message === NO_ERROR) return [];
      const query = { text: asked.message.slice(0, MAX_TEXT), excludeBuildId: subject.build.id, ...CANDIDATES };
      const sees = await sight(subject.build.repository);
      const rows = (await history.similarFailures(query)).filter(({ repository }) => sees(repository));
      const likeness = (row: FailureRow) => (text === undefined ? likenessOf(row.failure) : messageAlone(row.failure.message));
      const index = nearMatchIndex(rows.map((row, at) => ({ id: String(at), parts: likeness(row) })));
      return index.search(asked, limit, minScore).flatMap(({ id, score }): Finding[] => {
        const row = rows[Number(id)];
        return row === undefined ? [] : [{ ...pastFailure(row), score }];
      });
    },
  });
}

function partsOf(subject: TriageSubject): LikenessParts {
  const [failure] = subject.failures;
  return failure === undefined ? messageAlone(failureHeadline(subject)) : likenessOf(failure);
}

function messageAlone(message: string): LikenessParts {
  return { test: null, message, frames: [], lines: [] };
}
