import type { Database } from '../ports/database.ts';
import type { InsightsStore } from '../ports/insights.ts';
import { causeMethods } from './insights-causes.ts';
import { timeMethods } from './insights-time.ts';
import { trustMethods } from './insights-trust.ts';

/** Reads `answer_facts`, one narrow row an answer, which triggers keep in step with analyses, reviews and decisions. */
export function createInsightsStore(db: Pick<Database, 'query' | 'reader'>): InsightsStore {
  const read = db.reader ?? db;
  return { ...trustMethods(read), ...timeMethods(read), ...causeMethods(read) };
}
