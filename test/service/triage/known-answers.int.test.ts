import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Analysis } from '../../../src/domain/analysis.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { Rule } from '../../../src/domain/library.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { extractTemplates } from '../../../src/log/green/templates.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { decideReview } from '../../../src/service/review/decide.ts';
import { confirmInUse, undoDecision, withdrawEntry } from '../../../src/service/review/undo.ts';
import { conclude } from '../../../src/service/triage/conclude.ts';
import { flagContradicted } from '../../../src/service/triage/passing-builds.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild } from '../../stores/samples.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { triageLog } from '../../support/triage-world.ts';

const LOG = [
  'not ok 7 cart/sums-up',
  '  ---',
  '  severity: fail',
  '  exitcode: 1',
  '  stack: |-',
  '    TypeError: rates.of is not a function',
  '  ...',
  '',
].join('\n');

let db: TestDatabase;
let stores: Stores;
let deciding: Parameters<typeof decideReview>[0];
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, systemClock);
  deciding = { database: db, stores, masker: createMasker(), clock: systemClock, logger: silentLogger };
});
afterAll(async () => db.dispose());

const triaged = (repository: string) => triageLog(db, repository, LOG);

async function accept(analysis: Analysis, reviewer = 'ada') {
  const review = await stores.reviews.findByAnalysis(analysis.id);
  if (review === null) throw new Error('it waits for a person');
  return await decideReview(deciding, {
    reviewId: review.id,
    version: review.version,
    reviewer,
    input: { type: 'accept' },
  });
}

const listEntries = (repository: string) =>
  stores.library.list({ limit: 9, offset: 0 }, { repository, withdrawn: true });
const recalled = (repository: string, { fingerprint }: Analysis) =>
  stores.library.recall({ fingerprint, repository });
const createRepository = () => `acme/${createId('bld')}`;

describe('answers of the machine', () => {
  it('add nothing to the library without a decision, however often they are given and published', async () => {
    const repository = createRepository();
    for (let round = 0; round < 2; round++) expect((await triaged(repository)).analysis.recalled).toBeNull();
    const { build } = await stores.builds.upsert(sampleBuild({ repository, number: '900' }));
    const triage = await stores.triages.open(build.id, 'sure');
    const sure = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: 'sure' });
    const published: Analysis = { ...sure, verdict: { ...sure.verdict, action: 'auto_notify' } };
    const deps = {
      database: db,
      stores,
      publishers: ['log'],
      clock: systemClock,
      logger: silentLogger,
      forget: async () => undefined,
    };
    await conclude(build, { kind: 'investigated', analysis: published, owner: {} }, deps, {
      signal: new AbortController().signal,
      lastTry: false,
      holds: async () => true,
    });

    expect(await stores.analyses.find(published.id)).not.toBeNull();
    expect(await stores.reviews.findByAnalysis(published.id)).toBeNull();
    expect(await listEntries(repository)).toEqual([]);
  });

  it('that are recalled change nothing in the entry except its count', async () => {
    const repository = createRepository();
    const { entry } = await accept((await triaged(repository)).analysis);
    const answers = [await triaged(repository), await triaged(repository)];

    expect(answers.map(({ asked }) => asked)).toEqual([0, 0]);
    expect(answers.map(({ analysis }) => analysis.verdict.confidence)).toEqual([0.97, 0.97]);
    const [kept, ...more] = await listEntries(repository);
    expect(more).toEqual([]);
    expect(kept).toEqual({ ...entry, timesSeen: 3, lastSeenAt: kept?.lastSeenAt });
  });

  it('are sampled after publication, always the same ones, and never decisions of a person', async () => {
    const repository = createRepository();
    const { build } = await stores.builds.upsert(sampleBuild({ repository, number: '901' }));
    const open = async (fingerprint: string, change: Partial<Analysis>) => {
      const triage = await stores.triages.open(build.id, fingerprint);
      const made = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint }, change);
      const analysis: Analysis = { ...made, verdict: { ...made.verdict, action: 'auto_notify' } };
      const deps = {
        database: db,
        stores,
        publishers: ['log'],
        clock: systemClock,
        logger: silentLogger,
        forget: async () => undefined,
      };
      const run = { signal: new AbortController().signal, lastTry: false, holds: async () => true };
      await conclude(build, { kind: 'investigated', analysis, owner: {} }, { ...deps, auditEvery: 1 }, run);
      return await stores.reviews.findByAnalysis(analysis.id);
    };
    expect(await open('drawn', {})).toMatchObject({
      origin: 'audit',
      why: [expect.stringMatching(/one in 1 such answers is reviewed/)],
    });
    expect(await open('known', { terminationReason: 'known_failure' })).toBeNull();
  });
});

describe('a library entry that is no longer valid', () => {
  it('is used until it is undone, withdrawn or contradicted by a passed build', async () => {
    const repository = createRepository();
    const first = await accept((await triaged(repository)).analysis);
    await undoDecision(deciding, { reviewId: first.review.id, reviewer: 'ada', isAdmin: false });
    const unknown = await triaged(repository);
    expect(unknown.analysis.recalled).toBeNull();

    const second = await accept(unknown.analysis, 'bob');
    const id = second.entry?.id ?? '';
    await withdrawEntry(deciding, { id, by: 'eve', reason: 'it was the proxy' });
    expect(await recalled(repository, unknown.analysis)).toBeNull();
    await expect(confirmInUse(deciding, { id, by: 'eve' })).rejects.toMatchObject({ code: 'conflict' });
    expect((await withdrawEntry(deciding, { id, by: 'joe', reason: 'again' })).entry.withdrawn?.by).toBe(
      'eve',
    );
  });

  it('is flagged if a passed build has its lines, and used again once a person keeps it', async () => {
    const repository = createRepository();
    const { analysis } = await triaged(repository);
    const { entry } = await accept(analysis);
    const id = entry?.id ?? '';
    expect(entry?.telling).toEqual([expect.stringContaining('TypeError: rates.of is not a function')]);
    const green = async (text: string) => {
      const { build } = await stores.builds.upsert(
        sampleBuild({ repository, number: createId('bld'), status: 'passed' }),
      );
      await flagContradicted(build, [{ log: 'ci', templates: extractTemplates(text) }], {
        database: db,
        stores,
        logger: silentLogger,
      });
    };
    await expect(confirmInUse(deciding, { id, by: 'eve' })).rejects.toMatchObject({ code: 'conflict' });
    await green('ok 7 cart/sums-up\nall fine');
    expect(await recalled(repository, analysis)).toEqual(entry);

    await green(`${LOG}retried\nok 7 cart/sums-up`);
    expect((await stores.library.find(id))?.flag?.builds).toBe(1);
    expect(await recalled(repository, analysis)).toBeNull();

    expect(await confirmInUse(deciding, { id, by: 'eve' })).toMatchObject({
      answering: { id, stays: { by: 'eve' } },
    });
    expect((await triaged(repository)).analysis.recalled).toMatchObject({ entryId: id });
    const pending = await db.query<{ item: unknown }>(
      `select payload -> 'item' as item from work where topic = 'index:error_library' and key = $1`,
      [id],
    );
    expect(pending).toEqual([{ item: expect.anything() }]);
  });
});

describe('a rule of a reviewer', () => {
  const rule = (repository: string | null): Rule => ({
    id: createId('rul'),
    version: 1,
    pattern: 'rates\\.of is not a function',
    sample: 'rates.of is not a function',
    repository,
    category: 'DEPENDENCY_ERROR',
    kind: 'version_conflict',
    title: 'rates 3 has no of()',
    rootCause: 'rates 3 has no of().',
    fixRecommendation: 'Stay on rates 2.',
    author: 'ada',
    createdAt: '2026-10-01T08:00:00.000Z',
    timesUsed: 0,
    lastUsedAt: null,
    withdrawn: null,
  });

  it('answers without an analyst, after a confirmed entry for the same failure, until it is withdrawn', async () => {
    const repository = createRepository();
    const before = await triaged(repository);
    const own = rule(repository);
    await stores.rules.add(own);

    const ruled = await triaged(repository);
    expect(ruled.asked).toBe(0);
    expect(ruled.analysis).toMatchObject({
      category: 'DEPENDENCY_ERROR',
      terminationReason: 'known_failure',
      recalled: null,
      ruled: { ruleId: own.id, author: 'ada', timesUsed: 1 },
      verdict: { reasons: ['known: rule by ada, 2026-10-01'] },
    });
    expect(await stores.rules.find(own.id)).toMatchObject({ timesUsed: 1 });
    expect(await listEntries(repository)).toEqual([]);
    expect(await stores.rules.active('acme/other', 9)).toEqual([]);

    await accept(before.analysis, 'bob');
    expect((await triaged(repository)).analysis).toMatchObject({
      category: 'TEST_FAILURE',
      recalled: { confirmedBy: 'bob' },
    });

    await stores.rules.withdraw(own.id, 'ada', 'fixed');
    for (const { id } of await listEntries(repository)) await stores.library.withdraw(id, 'bob', 'no');
    expect((await triaged(repository)).asked).toBeGreaterThan(0);
  });
});
