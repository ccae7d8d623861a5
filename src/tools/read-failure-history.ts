import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { failingTestName } from './failure-text.ts';
import { historyUnavailable, pastFailure } from './past-failure.ts';
import { defineTool, type Tool } from './tool.ts';

const Parameters = z.strictObject({
  test: z.string().min(1).max(500).optional().describe('Name of a test; by default the one that failed'),
  limit: z.int().min(1).max(20).default(10),
});

/** Did this fail before? */
export function readFailureHistory(history: HistoryStore): Tool {
  return defineTool({
    name: 'read_failure_history',
    question: 'Did this test, or this same failure, occur in earlier builds of the repository, and when?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 100,
    provider: 'history',
    unavailable: async () => historyUnavailable(history),
    parameters: Parameters,
    async run({ test, limit }, { subject }) {
      const rows = await history.failureHistory({
        repository: subject.build.repository,
        fingerprint: subject.fingerprint.value,
        test: test ?? failingTestName(subject),
        beforeBuildId: subject.build.id,
        limit,
      });
      return rows.map(pastFailure);
    },
  });
}
