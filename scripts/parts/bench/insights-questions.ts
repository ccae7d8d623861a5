import type { Stores } from '../../../src/stores/stores.ts';
import { createFingerprintNumber } from './insights-data.ts';
import type { Question } from './store-questions.ts';

const REACH = 50;
const PAGE = { limit: 50, offset: 0 };

/** Returns the queries of the insights pages. Their times must not grow with the amount of data. */
export function listInsightsQuestions({ insights, flakiness, trust }: Stores, now: number): Question[] {
  const until = new Date(now).toISOString();
  const period = (days: number) => ({ until, days });
  const repository = (n: number) => `acme/service-${n % 200}`;
  const ask = (name: string, question: (n: number) => Promise<unknown>): Question => ({
    name,
    reach: REACH,
    ask: question,
  });
  return [
    ask('decided answers by confidence, a year', () => insights.decided(period(365))),
    ask('all answers by confidence, a year', () => insights.answered(period(365))),
    ask('answers behind a count, a year', () =>
      trust.answers(period(365), { from: 0.85, right: false }, PAGE),
    ),
    ask('what the latest changes did', () => trust.changes({})),
    ask('track record of a band', (n) => insights.trackRecord((n % 10) / 10)),
    ask('causes per day, 30 days', () => insights.categoriesPerDay(period(30))),
    ask('causes per day, 90 days', () => insights.categoriesPerDay(period(90))),
    ask('top causes, 30 days', () => insights.topCauses(period(30), 50)),
    ask('top causes, 90 days', () => insights.topCauses(period(90), 50)),
    ask('top causes of a repository', (n) =>
      insights.topCauses({ ...period(90), repository: repository(n) }, 50),
    ),
    ask('one cause', (n) => insights.cause(createFingerprintNumber(n % 200), until)),
    ask('what is different for a cause', (n) => insights.compared(createFingerprintNumber(n % 200))),
    ask('cost and time per week', () => insights.perWeek(period(84))),
    ask('how the team decides', () => insights.reviewing(period(90))),
    ask('flaky tests', () => flakiness.list({}, PAGE)),
    ask('flaky tests of a repository', (n) => flakiness.list({ repository: repository(n) }, PAGE)),
    ask('flaky tests in scope', (n) => flakiness.list({ repositories: [repository(n)] }, PAGE)),
    ask('what is known of one test', (n) =>
      flakiness.ofTest({ repository: repository(n), name: `test ${n % 50}` }),
    ),
    ask('what is known of twenty tests', (n) =>
      flakiness.ofTests(
        Array.from({ length: 20 }, (_, at) => ({ repository: repository(n), name: `test ${at}` })),
      ),
    ),
  ];
}
