import { describe, expect, it } from 'vitest';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { NewBuild } from '../../../src/domain/build.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { Decision } from '../../../src/domain/review.ts';
import { sampleAnalysis, sampleDecision, sampleReview } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

const DAY = 86_400_000;
const UNTIL = '2026-08-01T12:00:00.000Z';
const at = (daysBefore: number) => new Date(Date.parse(UNTIL) - daysBefore * DAY).toISOString();

interface Answered {
  readonly fingerprint?: string;
  readonly confidence?: number;
  readonly daysBefore?: number;
  readonly build?: Partial<NewBuild>;
  readonly analysis?: Partial<Analysis>;
  readonly decision?: Partial<Decision>;
  /** Asks a person, who may not decide. */
  readonly review?: boolean;
}

/** What dashboards count. */
export function testInsightsContract(world: StoresWorld): void {
  const answered = async (given: Answered) => {
    const { stores } = world;
    const build = await world.build({ number: createId('bld'), ...given.build });
    const fingerprint = given.fingerprint ?? createId('fal');
    const triage = await stores.triages.open(build.id, fingerprint);
    const base = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint });
    const confidence = given.confidence ?? 0.72;
    const createdAt = at(given.daysBefore ?? 1);
    const wanted = { ...base, createdAt, ...given.analysis, verdict: { ...base.verdict, confidence } };
    const { analysis } = await stores.analyses.insertOnce(wanted);
    if (given.review !== true && given.decision === undefined) return { build, analysis, review: null };
    const review = await stores.reviews.open(
      sampleReview(analysis, { repository: build.repository, confidence, category: analysis.category }),
    );
    if (given.decision !== undefined)
      await stores.reviews.decide(
        review.id,
        review.version,
        sampleDecision(review, { decidedAt: createdAt, ...given.decision }),
      );
    return { build, analysis, review };
  };
  const period = (change: object = {}) => ({
    repository: world.repository,
    until: UNTIL,
    days: 30,
    ...change,
  });

  describe('trust', () => {
    it('lists the decided answers behind a count', async () => {
      await answered({ confidence: 0.9, decision: { type: 'accept' }, daysBefore: 3 });
      await answered({
        confidence: 0.86,
        decision: { type: 'correct', category: 'INFRA_ERROR' },
        daysBefore: 2,
      });
      await answered({ confidence: 0.85, decision: { type: 'reject', reason: 'no' } });
      await answered({ confidence: 0.84, decision: { type: 'accept' } });
      await answered({ confidence: 0.99, decision: { type: 'reject', reasonCode: 'cannot_be_told' } });
      await answered({ confidence: 0.99 });
      const { trust } = world.stores;
      const of = async (right: boolean | null) =>
        (await trust.answers(period(), { from: 0.85, right }, { limit: 9, offset: 0 })).map((one) => [
          one.confidence,
          one.decidedCategory,
        ]);
      expect(await of(null)).toEqual([
        [0.85, null],
        [0.86, 'INFRA_ERROR'],
        [0.9, 'TEST_FAILURE'],
      ]);
      expect(await of(true)).toEqual([[0.9, 'TEST_FAILURE']]);
      expect(await of(false)).toHaveLength(2);
    });

    it('counts the answers before and after a change, up to the next change of its kind', async () => {
      const { trust, rules } = world.stores;
      const { repository } = world;
      const rule = {
        repository,
        pattern: 'lost it',
        sample: 'lost it',
        category: 'CODE_ERROR' as const,
        kind: 'crash' as const,
        rootCause: 'r',
        fixRecommendation: 'f',
        author: 'ada',
        timesUsed: 0,
        lastUsedAt: null,
        withdrawn: null,
      };
      const id = createId('rul');
      await rules.add({ ...rule, id, version: 1, title: 'the first', createdAt: at(6) });
      await answered({ daysBefore: 40 });
      await answered({ daysBefore: 7, decision: { type: 'accept' } });
      await answered({ daysBefore: 5, decision: { type: 'correct', category: 'INFRA_ERROR' } });
      await answered({ daysBefore: 4, analysis: { analyst: 'recall' } });
      await rules.add({ ...rule, id: createId('rul'), version: 1, title: 'the second', createdAt: at(3) });
      await answered({ daysBefore: 2 });
      const own = (await trust.changes({ repository })).filter((one) => one.repository === repository);
      expect(own).toEqual([
        {
          at: at(3),
          kind: 'rule',
          repository,
          from: null,
          to: 'the second',
          before: { answers: 1, published: 0, decided: 1, right: 0 },
          after: { answers: 1, published: 1, decided: 0, right: 0 },
        },
        {
          at: at(6),
          kind: 'rule',
          repository,
          from: null,
          to: 'the first',
          before: { answers: 1, published: 0, decided: 1, right: 1 },
          after: { answers: 1, published: 0, decided: 1, right: 0 },
        },
      ]);
      expect(await trust.changes({ repositories: ['nobody/*'] })).not.toContainEqual(
        expect.objectContaining({ repository }),
      );
    });

    it('stores a setup once, and reports what changed', async () => {
      const { trust } = world.stores;
      const setup = { release: '0.1.0', analyst: 'rules', autoNotify: 0.8 };
      await world.db.query('delete from setups');
      for (const one of [
        setup,
        setup,
        { ...setup, autoNotify: 0.85 },
        { ...setup, autoNotify: 0.85, analyst: 'llm model-x' },
      ])
        await trust.record(one);
      const found = (await trust.changes({ repository: world.repository })).filter(
        ({ kind }) => kind === 'threshold' || kind === 'analyst',
      );
      expect(found.map(({ kind, from, to }) => [kind, from, to])).toEqual([
        ['analyst', 'rules', 'llm model-x'],
        ['threshold', '0.8', '0.85'],
      ]);
    });
  });

  describe('insights', () => {
    it('counts decisions by the stated confidence, and whether the answers were right', async () => {
      await answered({ confidence: 0.29, decision: { type: 'accept' } });
      await answered({
        confidence: 0.29,
        decision: { type: 'correct', category: 'TEST_FAILURE', rootCause: 'x' },
      });
      await answered({
        confidence: 0.72,
        decision: { type: 'correct', category: 'INFRA_ERROR' },
      });
      await answered({
        confidence: 0.75,
        decision: { type: 'reject', reasonCode: 'right_category_wrong_cause' },
      });
      await answered({ confidence: 0.76, decision: { type: 'reject', reasonCode: 'cannot_be_told' } });
      await answered({ confidence: 0.77, decision: { type: 'reject', reason: 'no' } });
      await answered({ confidence: 0.78, decision: { type: 'accept' }, analysis: { analyst: 'recall' } });
      await answered({ confidence: 1, decision: { type: 'accept' }, daysBefore: 40 });
      await answered({ confidence: 0.95 });
      const { insights } = world.stores;
      const repository = world.repository;

      expect(await insights.decided(period())).toEqual([
        { at: 0.29, category: 'TEST_FAILURE', right: true, count: 2 },
        { at: 0.72, category: 'TEST_FAILURE', right: false, count: 1 },
        { at: 0.75, category: 'TEST_FAILURE', right: true, count: 1 },
        { at: 0.77, category: 'TEST_FAILURE', right: false, count: 1 },
      ]);
      expect((await insights.answered(period())).map(({ at: one, count }) => [one, count])).toEqual([
        [0.29, 2],
        [0.72, 1],
        [0.75, 1],
        [0.76, 1],
        [0.77, 1],
        [0.95, 1],
      ]);
      expect(await insights.trackRecord(0.7, null, { repository })).toEqual({
        right: 1,
        of: 3,
        from: 0.7,
        to: 0.8,
      });
      expect(await insights.trackRecord(1, 'TEST_FAILURE', { repository })).toEqual({
        right: 1,
        of: 1,
        from: 0.9,
        to: 1,
      });
      expect(await insights.trackRecord(0.75, 'CODE_ERROR', { repository })).toMatchObject({
        right: 0,
        of: 0,
      });
    });

    it('drops a decision that is undone, and an answer with its build', async () => {
      const { build, review } = await answered({ decision: { type: 'accept' } });
      const decided = async () => (await world.stores.insights.decided(period())).length;
      const stored = review === null ? null : await world.stores.reviews.find(review.id);
      expect(await decided()).toBe(1);

      if (stored?.decision != null) await world.stores.reviews.undo(stored.decision, 'ada');
      expect(await decided()).toBe(0);
      expect(await world.stores.insights.categoriesPerDay(period())).toMatchObject([
        { open: true, count: 1 },
      ]);

      await world.db.query('delete from builds where id = $1', [build.id]);
      expect(await world.stores.insights.answered(period())).toEqual([]);
    });

    it('counts causes per day by the category of a person, otherwise of the machine, and marks open ones', async () => {
      await answered({ daysBefore: 1 });
      await answered({ daysBefore: 1, decision: { type: 'correct', category: 'INFRA_ERROR' } });
      await answered({ daysBefore: 1, decision: { type: 'reject', reason: 'no' } });
      await answered({ daysBefore: 2, review: true });
      await answered({ daysBefore: 31 });

      expect(await world.stores.insights.categoriesPerDay(period())).toEqual([
        { day: '2026-07-30', category: 'TEST_FAILURE', open: true, count: 1 },
        { day: '2026-07-31', category: 'INFRA_ERROR', open: false, count: 1 },
        { day: '2026-07-31', category: 'TEST_FAILURE', open: false, count: 1 },
        { day: '2026-07-31', category: 'TEST_FAILURE', open: true, count: 1 },
      ]);
    });

    it('orders causes by the hours of their builds, divided if a build has several', async () => {
      const [often, slow] = [`often-${world.count}`, `slow-${world.count}`];
      const hours = (count: number) => ({
        startedAt: '2026-07-01T00:00:00.000Z',
        finishedAt: new Date(Date.parse('2026-07-01') + count * 3_600_000).toISOString(),
      });
      for (const [before, pullRequest] of [
        [1, 7],
        [2, 7],
        [3, 8],
      ] as const)
        await answered({
          fingerprint: often,
          daysBefore: before,
          build: { ...hours(1), pullRequest, branch: 'topic' },
        });
      const { build } = await answered({
        fingerprint: slow,
        daysBefore: 2,
        build: { ...hours(10), branch: 'main' },
        decision: { type: 'correct', category: 'INFRA_ERROR' },
      });
      await answered({ fingerprint: often, daysBefore: 2, build: { number: build.number, branch: 'main' } });
      await answered({ fingerprint: often, daysBefore: 5 });

      const [first, second] = await world.stores.insights.topCauses(period(), 10);

      expect([first?.fingerprint, first?.hours, first?.builds, first?.untimed]).toEqual([often, 8, 5, 1]);
      expect(first).toMatchObject({
        pullRequests: 2,
        repositories: 1,
        decided: null,
        firstAt: at(5),
        lastAt: at(1),
        category: 'TEST_FAILURE',
      });
      expect(first?.perDay.slice(-6)).toEqual([1, 0, 1, 2, 1, 0]);
      expect(second).toMatchObject({
        fingerprint: slow,
        hours: 5,
        decided: { category: 'INFRA_ERROR', reviewer: 'ada', at: at(2) },
        category: 'INFRA_ERROR',
      });
      expect(await world.stores.insights.countCauses(period())).toBe(2);
      expect(await world.stores.insights.topCauses(period(), 1)).toMatchObject([{ fingerprint: often }]);
      expect(await world.stores.insights.topCauses(period(), 1, 1)).toMatchObject([{ fingerprint: slow }]);
      expect(await world.stores.insights.topCauses(period(), 1, 2)).toEqual([]);
      const facts = await world.stores.insights.cause(slow, UNTIL, { repository: world.repository });
      expect(facts).toMatchObject({
        cause: { ...second },
        builds: [{ buildId: build.id, decision: 'correct', decidedCategory: 'INFRA_ERROR' }],
        decisions: [{ reviewer: 'ada' }],
        places: [{ pipeline: 'CI', branch: 'main', builds: 1 }],
      });
      expect(await world.stores.insights.cause('fp-nowhere', UNTIL)).toBeNull();
    });

    it('compares builds with a cause with passed builds of the same repository', async () => {
      const fingerprint = `differs-${world.count}`;
      await answered({
        fingerprint,
        build: {
          branch: 'topic',
          author: 'ann',
          attempt: 2,
          startedAt: '2026-07-05T13:59:00.000Z',
          pullRequest: 3,
        },
      });
      await world.build({
        number: '900',
        status: 'passed',
        branch: 'main',
        startedAt: '2026-07-06T00:01:00.000Z',
      });
      await world.build({ number: '901', status: 'failed' });

      expect(await world.stores.insights.compared(fingerprint)).toEqual([
        {
          failing: true,
          pipeline: 'CI',
          branch: 'topic',
          author: 'ann',
          provider: 'github',
          pullRequest: true,
          rerun: true,
          hour: 13,
          weekday: 0,
        },
        {
          failing: false,
          pipeline: 'CI',
          branch: 'main',
          author: null,
          provider: 'github',
          pullRequest: false,
          rerun: false,
          hour: 0,
          weekday: 1,
        },
      ]);
    });

    it('returns cost and time per week without recalled answers, and the number of those', async () => {
      const usage = (costUsd: number) => ({
        inputTokens: 0,
        outputTokens: 0,
        costUsd,
        modelCalls: 0,
        toolCalls: 0,
        iterations: 1,
      });
      for (const [cost, seconds] of [
        [0.01, 10],
        [0.02, 20],
        [0.03, 60],
      ] as const)
        await answered({ daysBefore: 3, analysis: { usage: usage(cost), milliseconds: seconds * 1000 } });
      await answered({ daysBefore: 3, analysis: { analyst: 'recall', milliseconds: 1 } });
      await answered({ daysBefore: 10, analysis: { analyst: 'recall' } });

      const weeks = await world.stores.insights.perWeek(period());

      expect(weeks).toMatchObject([
        { week: '2026-07-20', answers: 1, recalled: 1, medianUsd: null, p90Seconds: null },
        { week: '2026-07-27', answers: 4, recalled: 1, medianUsd: 0.02, medianSeconds: 20 },
      ]);
      expect(weeks[1]?.p90Seconds).toBeCloseTo(52);
    });

    it('62: measures how often pipelines fail, how long the default branch is broken, and how long builds take', async () => {
      const built = async (
        hoursBefore: number,
        status: 'passed' | 'failed',
        change: Partial<NewBuild> = {},
      ) => {
        const finishedAt = new Date(Date.parse(UNTIL) - hoursBefore * 3_600_000).toISOString();
        const startedAt = new Date(Date.parse(finishedAt) - 10 * 60_000).toISOString();
        const number = `${100_000 - hoursBefore}`;
        const { id } = await world.build({
          number,
          branch: 'main',
          pipeline: 'ci',
          status,
          startedAt,
          finishedAt,
          ...change,
        });
        await world.db.query('update builds set received_at = $2 where id = $1', [id, finishedAt]);
      };
      // Red from 50 to 44 hours before the end, and again from 20 to 18, and now from 1.
      for (const [hours, status] of [
        ...([
          [60, 'passed'] as const,
          [50, 'failed'] as const,
          [47, 'failed'] as const,
          [44, 'passed'] as const,
        ] as const),
        ...([[20, 'failed'] as const, [18, 'passed'] as const, [1, 'failed'] as const] as const),
      ])
        await built(hours, status);
      await built(30, 'failed', { branch: 'topic' });
      await built(24 * 40, 'passed', {
        startedAt: new Date(Date.parse(UNTIL) - 24 * 40 * 3_600_000 - 300_000).toISOString(),
      });
      await built(2, 'passed', { pipeline: 'lint', branch: 'topic' });
      await built(24 * 70, 'failed', { pipeline: 'long gone' });

      const [ci, lint, ...more] = await world.stores.health.pipelines(period(), 9);

      expect(ci).toMatchObject({
        repository: world.repository,
        pipeline: 'ci',
        builds: 8,
        failed: 5,
        buildsBefore: 1,
        failedBefore: 0,
        branch: 'main',
        isRed: true,
        recoveries: 2,
        hoursToGreen: 4,
        redHours: 6 + 2 + 1,
      });
      expect([ci?.minutes, ci?.minutesBefore]).toEqual([10, 5]);
      expect(ci?.perDay).toHaveLength(30);
      expect(ci?.perDay.slice(-3)).toEqual([2, 2, 1]);
      expect(lint).toMatchObject({
        pipeline: 'lint',
        builds: 1,
        failed: 0,
        branch: null,
        redHours: 0,
        isRed: false,
        hoursToGreen: null,
      });
      expect(more).toEqual([]);
      expect(await world.stores.health.pipelines(period({ repositories: ['other/*'] }), 9)).toEqual([]);
    });

    it('measures how often reviewers agree with the answers and with each other, and how fast', async () => {
      const same = `same-${world.count}`;
      const other = `other-${world.count}`;
      await answered({ fingerprint: same, decision: { type: 'accept', secondsOpen: 2, reviewer: 'ada' } });
      await answered({
        fingerprint: same,
        decision: { type: 'accept', secondsOpen: 20, reviewer: 'bob' },
        daysBefore: 2,
      });
      await answered({
        fingerprint: other,
        decision: { type: 'accept', secondsOpen: 30, reviewer: 'ada' },
      });
      await answered({
        fingerprint: other,
        decision: { type: 'correct', category: 'CODE_ERROR', reviewer: 'bob' },
        daysBefore: 2,
      });
      await answered({ decision: { type: 'reject', reason: 'no', reviewer: 'bob' } });

      expect(await world.stores.insights.reviewing(period())).toEqual({
        decided: 5,
        judged: 5,
        agreed: 3,
        medianSeconds: 20,
        p90Seconds: 28,
        timedAccepts: 3,
        hastyAccepts: 1,
        pairs: 2,
        pairsAgreed: 1,
      });
      expect(await world.stores.insights.reviewing(period({ repository: 'acme/nothing' }))).toMatchObject({
        decided: 0,
        medianSeconds: null,
      });
    });

    it('counts only what is in scope', async () => {
      const fingerprint = `scope-${world.count}`;
      await answered({ fingerprint, decision: { type: 'accept' } });
      const { insights } = world.stores;
      const seen = async (repositories: readonly string[]) => {
        const scoped = { until: UNTIL, days: 3000, repositories };
        return [
          (await insights.decided(scoped)).length,
          (await insights.answered(scoped)).length,
          (await insights.trackRecord(0.72, null, { repositories })).of,
          (await insights.categoriesPerDay(scoped)).length,
          (await insights.topCauses(scoped, 5)).length,
          await insights.countCauses(scoped),
          (await insights.cause(fingerprint, UNTIL, { repositories })) === null ? 0 : 1,
          (await insights.compared(fingerprint, { repositories })).length,
          (await insights.perWeek(scoped)).length,
          (await insights.reviewing(scoped)).decided,
        ];
      };

      expect(await seen([world.repository])).toEqual(Array(10).fill(1));
      expect(await seen(['acme/nothing', 'other/*'])).toEqual(Array(10).fill(0));
    });
  });
}
