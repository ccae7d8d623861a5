import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScopeChecks, type Scope } from '../../src/api/scope.ts';
import { scopeArchive, scopeStores } from '../../src/api/scoped-stores.ts';
import { CHECKED, DEFAULT_PREFERENCES, isInScope } from '../../src/domain/access.ts';
import { createId } from '../../src/domain/ids.ts';
import { NotificationRuleInput, OwnerChannelsInput } from '../../src/domain/notification-rule.ts';
import { systemClock } from '../../src/lib/time.ts';
import type { Database } from '../../src/ports/database.ts';
import type { NoticeRule } from '../../src/ports/notices.ts';
import { createMemoryArchive } from '../../src/stores/archive/memory.ts';
import { createStores, type ScopedStores, type ShownStores, type Stores } from '../../src/stores/stores.ts';
import {
  createFailingTest,
  sampleAnalysis,
  sampleBuild,
  sampleDecision,
  sampleEntry,
  sampleGroup,
  sampleReview,
} from '../stores/samples.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { sampleExperiment } from '../support/sample-analysis.ts';
import { sampleGrade } from '../support/sample-grade.ts';
import { type Project, storeProject } from './scope-projects.ts';

/** A project whose cause was seen in two more builds: one decided, one waiting. */
interface Seen extends Project {
  readonly fingerprint: string;
  readonly decided: string;
  readonly decidedBuild: string;
  readonly batch: string;
  readonly decision: string;
  /** An entry that a green build contradicts. */
  readonly flagged: string;
  readonly unreviewed: string;
  /** A build after one whose failure was mended. */
  readonly gradedAfter: string;
}

const PAGE = { limit: 10, offset: 0 };
const UNTIL = new Date(Date.now() + 60_000).toISOString();
const period = ({ repository }: Seen) => ({ repository, until: UNTIL, days: 7 });
const decisionOn = (of: Seen) =>
  sampleDecision({ id: of.review, analysisId: of.analysis }, { id: `dec-${of.repository}` });

type Calls = {
  readonly [Name in keyof ShownStores]: {
    readonly [Method in keyof ShownStores[Name]]: (store: ShownStores[Name], of: Seen) => Promise<unknown>;
  };
};

/** How each method is asked for what is of a project; in this order, so that what reads comes before what takes away. */
const CALLS: Calls = {
  deliveries: { find: (store, { delivery }) => store.find('github', delivery) },
  builds: {
    find: (store, { build }) => store.find(build),
    list: (store, { repository }) => store.list({ repository }, PAGE),
    offers: (store, { repository }) => store.offers({ repository }),
    repositories: async (store, { repository }) => await store.repositories({ words: repository }, 9),
    logsForgottenAt: (store, { build }) => store.logsForgottenAt(build),
  },
  pictures: {
    list: (store, { build }) => store.list(build),
    read: (store, { build }) => store.read(build, 'shot.png'),
  },
  triages: { findByBuild: (store, { build }) => store.findByBuild(build) },
  analyses: {
    find: (store, { analysis }) => store.find(analysis),
    listByBuild: (store, { build }) => store.listByBuild(build),
    heads: (store, { build }) => store.heads([build]),
  },
  runSteps: { after: (store, { build }) => store.after(build, 0) },
  failures: {
    listByBuild: (store, { build }) => store.listByBuild(build),
    groupsOfBuild: (store, { build }) => store.groupsOfBuild(build),
    histories: async (store, { build }) => [...((await store.histories(build)) ?? [])],
    search: (store, { repository }) => store.search({ repository }, PAGE),
  },
  history: {
    failureHistory: (store, { repository, fingerprint, decidedBuild }) =>
      store.failureHistory({ repository, fingerprint, test: null, beforeBuildId: decidedBuild, limit: 9 }),
    similarFailures: (store, { repository }) =>
      store.similarFailures({
        text: 'expected 3 items',
        excludeBuildId: 'none',
        minScore: 0,
        limit: 9,
        repositories: [repository],
      }),
  },
  insights: {
    decided: (store, of) => store.decided(period(of)),
    answered: (store, of) => store.answered(period(of)),
    trackRecord: (store, { repository }) => store.trackRecord(0.8, null, { repository }),
    categoriesPerDay: (store, of) => store.categoriesPerDay(period(of)),
    topCauses: (store, of) => store.topCauses(period(of), 9),
    countCauses: (store, of) => store.countCauses(period(of)),
    cause: (store, { fingerprint, repository }) => store.cause(fingerprint, UNTIL, { repository }),
    compared: (store, { fingerprint, repository }) => store.compared(fingerprint, { repository }),
    perWeek: (store, of) => store.perWeek(period(of)),
    reviewing: (store, of) => store.reviewing(period(of)),
  },
  environments: { find: (store, { build }) => store.find(build) },
  health: {
    lanes: (store, of) => store.lanes({ ...of, since: '2026-01-01T00:00:00.000Z' }, 9),
    unreadLogs: (store, of) => store.unreadLogs(period(of), 9),
    pipelines: (store, of) => store.pipelines(period(of), 9),
    repository: async (store, of) => {
      const { branches, jobs, days } = await store.repository(period(of), 9);
      return { branches, jobs, days };
    },
    addDeployment: (store, { repository }) =>
      store.addDeployment({ repository, environment: 'production', version: '1', url: null, at: UNTIL }),
  },
  ciLinks: {
    logPages: async (store, { build }) => [...(await store.logPages(build))],
    reruns: (store, { build }) => store.reruns(build),
    beginRerun: (store, { build }) => store.beginRerun(build, 'ada'),
    endRerun: (store) => store.endRerun(0, null),
  },
  trust: {
    changes: async (store, { repository }) =>
      (await store.changes({})).filter((one) => one.repository === repository),
    answers: (store, of) => store.answers(period(of), { from: 0, right: null }, PAGE),
  },
  grades: {
    find: (store, { unreviewed }) => store.find(unreviewed),
    counts: (store, of) => store.counts(period(of)),
    list: (store, of) => store.list(period(of), { question: 'category', grade: null }, PAGE),
    listFixedBefore: (store, { gradedAfter, fingerprint }) =>
      store.listFixedBefore(gradedAfter, { fingerprint, kind: 'assertion' }, 9),
  },
  causes: {
    list: (store, { repository }) => store.list({ list: 'open', assignee: 'ada', repository }, PAGE),
    counts: (store, { repository }) => store.counts({ assignee: 'ada', repository }),
    ofFingerprint: async (store, { fingerprint, repository }) =>
      (await store.ofFingerprint(fingerprint)).filter((one) => one.repository === repository),
    offers: (store, { repository }) => store.offers({ list: 'open', assignee: 'ada', repository }),
    listMerged: async (store, { repository, fingerprint }) => {
      const [other] = await stores.causes.ofFingerprint(fingerprint.replace('fp', 'unread'));
      const change = { what: 'merged', into: fingerprint } as const;
      if (other?.mergedInto === null) await stores.causes.change(other, change, 'bob', Date.parse(UNTIL));
      return await store.listMerged({ repository, fingerprint });
    },
    ofTests: async (store, { repository }) =>
      (await store.ofTests({ tests: [{ repository, name: 'subtracts' }] })).filter((cause) => cause !== null),
    countPerDay: async (store, key) =>
      (await store.countPerDay({ causes: [key], until: UNTIL, days: 4_000 }))
        .flat()
        .filter((count) => count > 0),
    events: (store, { fingerprint, repository }) => store.events({ fingerprint, repository }, 9),
    change: async (store, { fingerprint, repository }) => {
      const version =
        (await stores.causes.ofFingerprint(fingerprint)).find((one) => one.repository === repository)
          ?.version ?? 0;
      return await store.change(
        { fingerprint, repository, version },
        { what: 'acknowledged' },
        'ada',
        Date.parse(UNTIL),
      );
    },
    undo: async (store, { fingerprint, repository }) => {
      const known = await stores.causes.ofFingerprint(fingerprint);
      const cause = known.find((one) => one.repository === repository);
      if (cause !== undefined) await stores.causes.change(cause, { what: 'fixed' }, 'eve', Date.parse(UNTIL));
      return (await store.undo({ by: 'eve', at: UNTIL })).filter((one) => one.repository === repository);
    },
  },
  experiments: {
    add: (store, { build }) =>
      database.transaction((sql) => store.add(build, sampleExperiment({ tests: [] }), 'ada', sql)),
    apply: (store, { build }) => database.transaction((sql) => store.apply(build, sql)),
  },
  passingBuilds: { newest: (store, { repository }) => store.newest(repository, 9) },
  flakiness: {
    list: (store, { repository }) => store.list({ repository }, PAGE),
    ofTest: (store, { repository }) => store.ofTest({ repository, name: 'adds' }),
    find: async (store, { repository }) =>
      (await store.find({ words: 'adds' }, 9)).filter((one) => one.repository === repository),
    costs: (store, { repository }) => store.costs({ repository, until: UNTIL, days: 9, minutes: 10 }, PAGE),
    listFailing: (store, { repository }) => store.listFailing({ repository }, PAGE),
    runs: (store, { repository }) => store.runs({ repository, name: 'adds' }),
    quarantine: (store, { repository }) =>
      store.quarantine({ repository, name: 'adds', suite: null }, { until: UNTIL, by: 'ada', reason: null }),
  },
  notices: {
    changed: (store, { build }) => store.changed({ buildId: build, delayMs: 0 }),
    situation: (store, { build }) => store.situation({ type: 'build', buildId: build }),
    pages: async (store, { build }) => {
      const of = await stores.builds.find(build);
      return of === null ? [] : await store.pages(of);
    },
  },
  questions: {
    find: (store, { question }) => store.find(question),
    list: (store, { repository }) => store.list({ repository }, PAGE),
    answer: (store, { question }) => store.answer(question, 'because', 'ada'),
  },
  library: {
    find: (store, { entry }) => store.find(entry),
    recall: (store, { fingerprint, repository }) => store.recall({ fingerprint, repository }),
    list: (store, { repository }) => store.list(PAGE, { repository }),
    offers: (store, { repository }) => store.offers({ repository }),
    ofDecision: (store, { decision }) => store.ofDecision(decision),
    alone: (store, { fingerprint, repository }) =>
      database.transaction((sql) => store.alone({ fingerprint, repository }, sql)),
    insert: (store, { repository }) => store.insert(sampleEntry('fp-new', { repository })),
    stay: (store, { flagged }) => store.stay(flagged, 'ada'),
    withdraw: (store, { entry }) => store.withdraw(entry, 'ada', 'no'),
    restore: (store, { entry }) => store.restore(entry, 'ada'),
  },
  rules: {
    find: (store, { rule }) => store.find(rule),
    list: async (store, { repository }) =>
      (await store.list(PAGE)).filter((rule) => rule.repository === repository),
    countActive: (store) => store.countActive(),
    add: (store, of) =>
      store.add({
        id: createId('rul'),
        version: 1,
        repository: of.repository,
        pattern: 'lost it',
        sample: 'lost it',
        category: 'CODE_ERROR',
        kind: 'crash',
        title: 't',
        rootCause: 'r',
        fixRecommendation: 'f',
        author: 'ada',
        createdAt: UNTIL,
        timesUsed: 0,
        lastUsedAt: null,
        withdrawn: null,
      }),
    withdraw: (store, { rule }) => store.withdraw(rule, 'ada', 'no'),
    restore: (store, { rule }) => store.restore(rule, 'ada'),
  },
  reviews: {
    list: (store, { repository }) => store.list({ repository }, PAGE),
    listGroups: (store, { repository }) => store.listGroups({ repository }, PAGE),
    offers: (store, { repository }) => store.offers({ repository }),
    counts: (store, { repository }) => store.counts('ada', { repository }),
    find: (store, { review }) => store.find(review),
    findByAnalysis: (store, { analysis }) => store.findByAnalysis(analysis),
    events: (store, { review }) => store.events(review),
    listSame: (store, { decided }) => store.listSame(decided, 'ada', 9),
    batch: (store, { batch }) => store.batch(batch),
    lastDecision: (store, { repository }) => store.lastDecision(`of ${repository}`),
    next: (store, { repository }) =>
      store.next({ repository }, { reviewer: 'bob', claimMs: 60_000, skippedMs: 0 }),
    takeOver: (store, { review }) => store.takeOver(review, 'ada', 60_000),
    claim: (store, { review }) => store.claim(review, 'ada', 60_000),
    release: (store, { review }) => store.release(review, 'ada'),
    skip: (store, { review }) => store.skip(review, 'ada'),
    decide: async (store, of) =>
      store.decide(of.review, (await stores.reviews.find(of.review))?.version ?? 1, decisionOn(of)),
    undo: (store, of) => store.undo(decisionOn(of), 'ada'),
    lastUndone: (store, { review }) => store.lastUndone(review),
    open: async (store, { repository, unreviewed, decidedBuild }) => {
      const analysis = await stores.analyses.find(unreviewed);
      const missing = sampleAnalysis({ buildId: decidedBuild, triageId: 'none', fingerprint: 'none' });
      return store.open(sampleReview(analysis ?? missing, { repository, id: `rev-${repository}` }));
    },
  },
  preferences: {
    of: (store) => store.of('ada'),
    set: (store) => store.set('ada', DEFAULT_PREFERENCES),
  },
  work: { add: (store) => store.add([]) },
  notificationRules: {
    find: (store, of) => store.find(of.notificationRule),
    list: async (store, { repository }) =>
      (await store.list()).filter((rule) => rule.repository === repository),
    events: (store, of) => store.events(of.notificationRule, 9),
    messages: (store, of) => store.messages(of.notificationRule, 9),
    answers: (store, { analysis }) => store.answers([analysis]),
    changes: async (store, { repository }) =>
      (await store.changes(['new'], '2020-01-01', 99)).filter((one) => one.repository === repository),
    owners: (store) => store.owners(),
    setOwner: (store) =>
      store.setOwner(OwnerChannelsInput.parse({ owner: '@a', slack: 'C0123456789' }), 'ada'),
    add: (store, { repository }) => store.add(NOTIFICATION_RULE, repository, 'ada'),
    change: async (store, { notificationRule: id, repository }) =>
      store.change(
        id,
        (await stores.notificationRules.find(id))?.version ?? 1,
        NOTIFICATION_RULE,
        repository,
        'ada',
      ),
    remove: (store, of) => store.remove(of.notificationRule, 'ada'),
  },
};

const NOTIFICATION_RULE = NotificationRuleInput.parse({
  name: 'n',
  channel: 'slack',
  destination: 'C0123456789',
});

/** Of no repository: the same whoever asks, or only for those who are held to none. */
const FOR_ALL = ['notificationRules owners', 'notificationRules setOwner'];
const OF_ALL = [
  'ciLinks endRerun',
  'rules countActive',
  'preferences of',
  'preferences set',
  'work add',
  ...FOR_ALL,
];

const OURS = 'acme/shop';
const THEIRS = 'other/secret';
/** Shown of every build, so that there is something to be said of each. */
const RULE: NoticeRule = {
  channel: 'test',
  findPlace: ({ id }) => ({ key: `test:${id}`, about: { type: 'build', buildId: id }, opens: true }),
  getPageAddress: ({ id }, reference) => `https://host/${id}/${reference}`,
};

let database: TestDatabase;
let stores: Stores;
let queries = 0;
let ours: Seen;
let theirs: Seen;

beforeAll(async () => {
  database = await openTestDatabase();
  stores = createStores(withQueryCount(database), systemClock, undefined, [RULE]);
  [ours, theirs] = [await storeSeen(OURS, '7'), await storeSeen(THEIRS, '8')];
});
afterAll(() => database.dispose());

function withQueryCount(base: Database): Database {
  const counted: Database['query'] = (...asked) => {
    queries += 1;
    return base.query(...asked);
  };
  return { ...base, query: counted };
}

async function storeSeen(repository: string, number: string): Promise<Seen> {
  const project = await storeProject({ stores, database }, repository, number);
  const picture = { png: new Uint8Array([1, 2, 3]), width: 1, height: 1 };
  await stores.pictures.save(project.build, 'shot.png', picture);
  const versions = [{ kind: 'tool', name: 'python', version: '3.12.4', line: 1 }] as const;
  const record = { log: 'build.log', versions, requirements: [], steps: [] };
  await stores.environments.save(project.build, [{ log: 'build.log', record }]);
  const fingerprint = `fp-${number}`;
  const again = async (nth: string, known = fingerprint) => {
    const { build } = await stores.builds.upsert(sampleBuild({ repository, number: `${number}${nth}` }));
    await stores.failures.saveGroups(build.id, [
      sampleGroup(build.id, known, { test: createFailingTest('subtracts') }),
    ]);
    const triage = await stores.triages.open(build.id, known);
    const of = { buildId: build.id, triageId: triage.id, fingerprint: known };
    return (await stores.analyses.insertOnce(sampleAnalysis(of, { createdAt: new Date().toISOString() })))
      .analysis;
  };
  await stores.builds.saveTestResults(project.build, [
    { ...createFailingTest('subtracts'), status: 'failed', durationMs: 5 },
  ]);
  const [first, waiting, unreviewed] = [await again('1'), await again('2'), await again('3')];
  const { buildId: gradedAfter } = await again('4', `unread-${number}`);
  const graded = await stores.builds.find(unreviewed.buildId);
  if (graded !== null) await stores.grades.save(unreviewed, graded, sampleGrade(graded));
  const [cause] = (await stores.causes.ofFingerprint(fingerprint)).filter(
    (one) => one.repository === repository,
  );
  if (cause !== undefined)
    await stores.causes.change(cause, { what: 'acknowledged' }, 'ada', Date.parse(UNTIL));
  const review = await stores.reviews.open(sampleReview(first, { repository }));
  await stores.reviews.open(sampleReview(waiting, { repository }));
  const decision = sampleDecision(review, { reviewer: `of ${repository}`, batchId: createId('bat') });
  await stores.reviews.decide(review.id, review.version, decision);
  await stores.library.insert(sampleEntry('fp-taught', { repository, decisionId: decision.id }));
  const flagged = sampleEntry('fp-flagged', { repository });
  await stores.library.insert(flagged);
  await stores.library.flag([flagged.id], { buildId: first.buildId, at: UNTIL });
  await stores.triages.request(project.build);
  const step = { node: 'classify', round: 0, startedAt: UNTIL, milliseconds: 1, summary: 'done' };
  await stores.runSteps.add(project.build, step);
  await database.query('insert into forgotten_logs (build_id) values ($1)', [project.build]);
  await stores.notices.changed({ buildId: project.build, delayMs: 0 });
  await database.query(`update work set result = '{"reference": "7"}' where key = $1`, [
    `test:${project.build}`,
  ]);
  await stores.ciLinks.saveLogPages(project.build, [{ name: 'console', url: 'https://host/job' }]);
  const rerun = await stores.ciLinks.beginRerun(project.build, 'ada');
  await stores.ciLinks.endRerun(rerun ?? 0, 'no');
  const templates = { version: 1, lines: ['all is well'] };
  await database.query('insert into green_templates (build_id, log, body) values ($1, $2, $3)', [
    first.buildId,
    'console',
    templates,
  ]);
  const ids = {
    decided: review.id,
    decidedBuild: waiting.buildId,
    decision: decision.id,
    batch: decision.batchId ?? '',
  };
  return { ...project, ...ids, fingerprint, flagged: flagged.id, unreviewed: unreviewed.id, gradedAfter };
}

/** Of whoever may see these repositories; null: all. */
function createScope(repositories: readonly string[] | null): Scope {
  return { repositories: () => repositories, allows: (repository) => isInScope(repositories, repository) };
}

/** Stores as routes are given them. */
function createShownStores(repositories: readonly string[] | null): ScopedStores {
  return scopeStores(stores, createScope(repositories));
}

function ask<Name extends keyof ShownStores>(
  from: ShownStores,
  name: Name,
  method: keyof ShownStores[Name],
  of: Seen,
): Promise<unknown> {
  return CALLS[name][method](from[name], of);
}

/** What is answered or refused, without the ids. */
async function describeAnswer(answer: Promise<unknown>, of: Seen): Promise<string> {
  const said = await answer.then(
    (value) => ({ value }),
    ({ code, message }: { readonly code: unknown; readonly message: unknown }) => ({ code, message }),
  );
  return Object.entries(of).reduce(
    (text, [name, id]) => (name === 'number' ? text : text.replaceAll(id, `<${name}>`)),
    JSON.stringify(said),
  );
}

const STORES = Object.keys(CALLS) as (keyof ShownStores)[];
const METHODS = STORES.flatMap((name) =>
  Object.keys(CALLS[name]).map((method) => [name, method as never] as const),
);

it('T18: this test covers every method that a route can reach, and no other method can be reached', () => {
  const reached = Object.entries(createShownStores([OURS])).flatMap(([name, store]) =>
    Object.keys(store).map((method) => `${name} ${method}`),
  );
  expect(reached.toSorted()).toEqual(METHODS.map(([name, method]) => `${name} ${method}`).toSorted());
});

it('T18: routes accept only stores whose methods are all checked, and checked stores are created in one place', () => {
  // @ts-expect-error Stores that see everything are not for routes.
  const given: ScopedStores = stores;
  expect(CHECKED in given.builds.find).toBe(false);
  const naming = globSync('src/**/*.ts').filter((path) => /\bCHECKED\b/.test(readFileSync(path, 'utf8')));
  expect(naming.toSorted()).toEqual(['src/api/scope.ts', 'src/domain/access.ts']);
});

it('T18: a query without its scope does not compile', () => {
  const { limited, ofBuild } = createScopeChecks(stores, createScope([OURS]));
  const { search: checked, ...others } = createShownStores([OURS]).failures;
  const search: ShownStores['failures']['search'] = async (filter, page) =>
    await stores.failures.search(filter, page);
  // @ts-expect-error A method that only hands on has passed no check.
  const forgetful: ScopedStores['failures'] = { ...others, search };
  // @ts-expect-error Only the one search is asked for, and that one is not checked either.
  const picked: Pick<ScopedStores['failures'], 'search'> = stores.failures;
  // @ts-expect-error The filter of this query knows no repositories.
  limited(async (filter: { readonly branch: string }) => filter.branch);
  // @ts-expect-error The first argument is no id of a build.
  ofBuild(stores.causes.events, () => []);
  expect([checked, forgetful.search, picked.search].map((method) => CHECKED in method)).toEqual([
    true,
    false,
    false,
  ]);
});

describe.each(METHODS.filter(([name, method]) => !OF_ALL.includes(`${name} ${method}`)))(
  'T18: the method %s %s',
  (name, method) => {
    it('answers for another project as for one that does not exist, and shows everything without a scope', async () => {
      const nowhere = Object.fromEntries(
        Object.keys(theirs).map((id) => [id, `no-${id}`]),
      ) as unknown as Seen;
      const nothing = await describeAnswer(ask(createShownStores([OURS]), name, method, nowhere), nowhere);
      expect(await describeAnswer(ask(createShownStores([OURS]), name, method, theirs), theirs)).toBe(
        nothing,
      );
      expect(await describeAnswer(ask(createShownStores(null), name, method, theirs), theirs)).not.toBe(
        nothing,
      );
      expect(await describeAnswer(ask(createShownStores([OURS]), name, method, ours), ours)).not.toBe(
        nothing,
      );
    });
  },
);

describe.each(METHODS)('T18: the method %s %s', (name, method) => {
  it('makes no additional queries without a scope', async () => {
    const counted = async (from: ShownStores) => {
      const before = queries;
      await ask(from, name, method, theirs).catch(() => undefined);
      return queries - before;
    };
    expect(await counted(createShownStores(null))).toBe(await counted(stores));
  });
});

it('T18: the channels of owners are accessible only without a repository scope', async () => {
  expect([
    await createShownStores([OURS]).notificationRules.owners(),
    (await stores.notificationRules.owners()).length,
  ]).toEqual([[], 1]);
  await expect(ask(createShownStores([OURS]), 'notificationRules', 'setOwner', ours)).rejects.toMatchObject({
    code: 'forbidden',
  });
});

it('T18: the archive shows only texts of visible builds', async () => {
  const archive = createMemoryArchive();
  for (const { build } of [ours, theirs])
    await archive.put(build, { name: 'log', kind: 'log', text: 'a\nb', notes: [] });
  const shown = async (repositories: readonly string[] | null) => {
    const held = scopeArchive(archive, stores, createScope(repositories));
    const read = async ({ build }: Seen) => {
      let pieces = 0;
      for await (const _piece of held.pieces(build, 'log')) pieces += 1;
      return [
        (await held.list(build)).length,
        (await held.lines(build, 'log', 1, 2))?.lines.length ?? 0,
        pieces,
      ];
    };
    return [await read(ours), await read(theirs)];
  };
  expect(await shown(null)).toEqual([
    [1, 2, 1],
    [1, 2, 1],
  ]);
  expect(await shown([OURS])).toEqual([
    [1, 2, 1],
    [0, 0, 0],
  ]);
});
