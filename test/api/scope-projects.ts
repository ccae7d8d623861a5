import { createId } from '../../src/domain/ids.ts';
import { GATHER, NotificationRuleInput } from '../../src/domain/notification-rule.ts';
import type { Database } from '../../src/ports/database.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { sampleAnalysis, sampleBuild, sampleEntry, sampleGroup, sampleReview } from '../stores/samples.ts';

/** What the ids of one project are. */
export interface Project {
  readonly repository: string;
  readonly build: string;
  readonly number: string;
  readonly analysis: string;
  readonly review: string;
  readonly question: string;
  readonly entry: string;
  readonly rule: string;
  readonly notificationRule: string;
  readonly thread: string;
  readonly repositoryThread: string;
  readonly delivery: string;
}

interface Stored {
  readonly stores: Stores;
  readonly database: Pick<Database, 'query'>;
}

/** A failed build with everything that may hang on one. */
export async function storeProject(
  { stores, database }: Stored,
  repository: string,
  number: string,
): Promise<Project> {
  const { build } = await stores.builds.upsert(sampleBuild({ repository, number }));
  await stores.failures.saveGroups(build.id, [sampleGroup(build.id, `fp-${number}`)]);
  await storeFlakyTest(stores, repository);
  const triage = await stores.triages.open(build.id, `fp-${number}`);
  const wanted = sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: `fp-${number}` });
  const { analysis } = await stores.analyses.insertOnce(wanted);
  const review = await stores.reviews.open(sampleReview(analysis, { repository }));
  const asked = {
    id: createId('rev'),
    triageId: triage.id,
    buildId: build.id,
    repository,
    title: 't',
    category: analysis.category,
  };
  const question = await stores.questions.ask(
    { ...asked, question: 'Why?', openedAt: new Date().toISOString() },
    600_000,
  );
  const entry = sampleEntry(`fp-${number}`, { repository });
  await stores.library.insert(entry);
  const rule = await storeRule(stores, repository);
  const notificationRule = await storeNotificationRule(stores, repository, analysis.id);
  const thread = createId('thr');
  await database.query(
    `insert into conversations (id, analysis_id, build_id, title, started_by, started_at, last_asked_at)
     values ($1, $2, $3, 't', 'reviewer', now(), now())`,
    [thread, analysis.id, build.id],
  );
  const repositoryThread = createId('thr');
  await database.query(
    `insert into repository_threads
       (id, repository, title, started_by, started_at, last_asked_at, learned, stack)
     values ($1, $2, 't', 'reviewer', now(), now(), '[]', '[]')`,
    [repositoryThread, repository],
  );
  const png = Buffer.from('a picture');
  await stores.pictures.save(build.id, 'shots/cart.png', { png, width: 1, height: 1 });
  const delivery = `delivery-${number}`;
  await stores.deliveries.insertOnce({
    source: 'github',
    deliveryId: delivery,
    event: 'x',
    bodySha256: 'x',
    buildId: build.id,
  });
  const ids = {
    repository,
    build: build.id,
    number,
    analysis: analysis.id,
    review: review.id,
    question: question.id,
    entry: entry.id,
  };
  return { ...ids, rule, notificationRule, thread, repositoryThread, delivery };
}

async function storeRule(stores: Stores, repository: string): Promise<string> {
  const id = createId('rul');
  await stores.rules.add({
    id,
    version: 1,
    repository,
    pattern: 'lost it',
    sample: 'lost it',
    category: 'CODE_ERROR',
    kind: 'crash',
    title: 't',
    rootCause: 'r',
    fixRecommendation: 'f',
    author: 'ada',
    createdAt: new Date().toISOString(),
    timesUsed: 0,
    lastUsedAt: null,
    withdrawn: null,
  });
  return id;
}

/** A rule with a message. */
async function storeNotificationRule(
  { notificationRules: rules, work }: Stores,
  repository: string,
  analysisId: string,
): Promise<string> {
  const input = NotificationRuleInput.parse({
    name: `of ${repository}`,
    query: `repo:${repository}`,
    channel: 'slack',
    destination: 'C0123456789',
  });
  const { id } = (await rules.add(input, repository, 'ada')) ?? { id: '' };
  const [occasion] = await rules.answers([analysisId]);
  if (occasion !== undefined) await rules.keep([{ ruleId: id, occasion, targets: ['slack:C0123456789'] }]);
  const [entry] = await work.take({ topic: GATHER, limit: 1, leaseMs: 60_000 });
  const sealed = { ruleId: id, target: 'slack:C0123456789', topic: 'message:slack' };
  if (entry !== undefined) await rules.seal(entry, sealed, { outcome: 'done' });
  return id;
}

async function storeFlakyTest(stores: Stores, repository: string): Promise<void> {
  for (const [attempt, status] of [
    [1, 'failed'],
    [2, 'passed'],
  ] as const) {
    const { build } = await stores.builds.upsert(
      sampleBuild({ repository, number: '900', attempt, commit: 'c0ffee' }),
    );
    await stores.builds.saveTestResults(build.id, [
      { name: 'adds', suite: null, file: null, status, durationMs: null },
    ]);
  }
}
