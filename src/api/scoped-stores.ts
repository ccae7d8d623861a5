import type { Scoped } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Sql } from '../ports/database.ts';
import type { KeptRuns } from '../ports/kept-runs.ts';
import type { Ask } from '../service/ask/ask.ts';
import { createUnknownRepositoryError, type RepositoryAsk } from '../service/ask/ask-repository.ts';
import type { Changes, Followed } from '../service/changes.ts';
import type { ScopedStores, ShownArchive, ShownStores, Stores } from '../stores/stores.ts';
import { createScopeChecks, requireVisible, type Scope, type ScopeChecks, withLimit } from './scope.ts';

/**
 * Creates the stores for routes, limited to the repositories that the caller may see. Everything else is
 * treated as absent. Each method must pass a check; otherwise it does not compile.
 */
export function scopeStores(stores: Stores, scope: Scope): ScopedStores {
  const checks = createScopeChecks(stores, scope);
  const { checkedByHand, limited, ofBuild, writes } = checks;
  const { runSteps, health, trust, preferences, triages } = stores;
  return {
    deliveries: scopeDeliveries(stores, checks),
    builds: scopeBuilds(stores, checks),
    triages: { findByBuild: ofBuild(triages.findByBuild, () => null) },
    pictures: {
      list: ofBuild(stores.pictures.list, () => []),
      read: ofBuild(stores.pictures.read, () => null),
    },
    analyses: scopeAnalyses(stores, checks),
    runSteps: { after: ofBuild(runSteps.after, () => []) },
    environments: { find: ofBuild(stores.environments.find, () => []) },
    failures: scopeFailures(stores, checks),
    history: scopeHistory(stores, checks),
    library: scopeLibrary(stores, checks),
    rules: scopeRules(stores, checks),
    reviews: { ...scopeReviewLists(stores, checks), ...scopeReviewItems(stores, checks) },
    questions: scopeQuestions(stores, checks),
    flakiness: scopeFlakiness(stores, checks),
    insights: scopeInsights(stores, scope, checks),
    health: {
      pipelines: limited(health.pipelines),
      repository: limited(health.repository),
      lanes: limited(health.lanes),
      unreadLogs: limited(health.unreadLogs),
      addDeployment: writes('deployments of', health.addDeployment, ({ repository }) => repository),
    },
    ciLinks: scopeCiLinks(stores, checks),
    trust: { changes: limited(trust.changes), answers: limited(trust.answers) },
    grades: scopeGrades(stores, checks),
    causes: scopeCauses(stores, checks),
    experiments: scopeExperiments(stores, checks),
    notificationRules: scopeNotificationRules(stores, checks),
    passingBuilds: scopePassingBuilds(stores, checks),
    notices: scopeNotices(stores, checks),
    // These belong to no repository: a person's preferences for the pages, and the texts that a decision adds
    // to the index.
    preferences: { of: checkedByHand(preferences.of), set: checkedByHand(preferences.set) },
    work: { add: checkedByHand(addToIndex(stores)) },
  };
}

/**
 * Allows changes of the index to every user who may decide. Only the service itself adds other work
 * entries.
 */
function addToIndex({ work }: Pick<Stores, 'work'>): ShownStores['work']['add'] {
  return async (entries, sql) => {
    const other = entries.find(({ topic }) => !topic.startsWith('index:'));
    if (other !== undefined)
      throw new TriageError(
        'internal',
        `A route tried to change ${other.topic}; routes may only change the index`,
      );
    return await work.add(entries, sql);
  };
}

/** Limits the archive to texts of builds that the caller may see. */
export function scopeArchive(
  archive: ShownArchive,
  stores: Pick<Stores, 'builds'>,
  scope: Scope,
): Scoped<ShownArchive> {
  const { ofBuild, canSeeBuild, checkedByHand } = createScopeChecks(stores, scope);
  return {
    list: ofBuild(archive.list, () => []),
    lines: ofBuild(archive.lines, () => null),
    pieces: checkedByHand(async function* (buildId: string, name: string) {
      if (await canSeeBuild(buildId)) yield* archive.pieces(buildId, name);
    }),
  };
}

/** Limits follow-up questions to the repositories that the caller may see. */
export function scopeAsk(
  ask: Ask,
  stores: Pick<ShownStores, 'analyses'> & Pick<Stores, 'builds'>,
  scope: Scope,
): Scoped<Ask> {
  const { seesAll, canSeeBuild, checkedByHand } = createScopeChecks(stores, scope);
  const findVisible: Ask['thread'] = async (id) => {
    const found = await ask.thread(id);
    if (await canSeeBuild(found.thread.buildId)) return found;
    throw new TriageError('not-found', `There is no thread ${id}.`);
  };
  return {
    byRules: ask.byRules,
    open: checkedByHand(async (input: Parameters<Ask['open']>[0]) => {
      if (seesAll()) return await ask.open(input);
      if ('analysisId' in input.about && (await stores.analyses.find(input.about.analysisId)) === null)
        throw new TriageError('not-found', `There is no analysis ${input.about.analysisId}.`);
      if ('buildId' in input.about && !(await canSeeBuild(input.about.buildId)))
        throw new TriageError('not-found', `There is no build ${input.about.buildId}.`);
      if (input.threadId !== undefined) await findVisible(input.threadId);
      return await ask.open(input);
    }),
    // A question must be opened before it is answered, and opening checks it.
    answer: checkedByHand(ask.answer),
    threads: checkedByHand(
      async (filter: Parameters<Ask['threads']>[0], page: Parameters<Ask['threads']>[1]) =>
        ask.threads(withLimit(filter, scope), page),
    ),
    thread: checkedByHand(findVisible),
    forget: checkedByHand(async (id: string) => {
      await findVisible(id);
      await ask.forget(id);
    }),
  };
}

/** Limits questions about repositories to those that the caller may see; the others are unknown. */
export function scopeRepositoryAsk(
  ask: RepositoryAsk,
  stores: Pick<Stores, 'builds'>,
  scope: Scope,
): Scoped<RepositoryAsk> {
  const { allows, checkedByHand, limited } = createScopeChecks(stores, scope);
  const findVisible: RepositoryAsk['thread'] = async (id) => {
    const found = await ask.thread(id);
    if (allows(found.thread.repository)) return found;
    throw new TriageError('not-found', `There is no thread ${id}.`);
  };
  return {
    byRules: ask.byRules,
    repositories: limited(ask.repositories),
    open: checkedByHand(async (input: Parameters<RepositoryAsk['open']>[0]) => {
      if (!allows(input.repository)) throw createUnknownRepositoryError();
      if (input.threadId !== undefined) await findVisible(input.threadId);
      return await ask.open(input);
    }),
    // A question must be opened before it is answered, and opening checks it.
    answer: checkedByHand(ask.answer),
    threads: limited(ask.threads),
    thread: checkedByHand(findVisible),
    forget: checkedByHand(async (id: string) => {
      await findVisible(id);
      await ask.forget(id);
    }),
  };
}

/**
 * Shows replays only to users who may see every repository, because a replay mixes the failures of all of
 * them.
 */
export function scopeKeptRuns(
  runs: KeptRuns | undefined,
  stores: Pick<Stores, 'builds'>,
  scope: Scope,
): Scoped<KeptRuns> {
  const { seesAll, checkedByHand } = createScopeChecks(stores, scope);
  return {
    list: checkedByHand(async () => (seesAll() ? ((await runs?.list()) ?? []) : null)),
    compare: checkedByHand(async (baseline: string, candidate: string) => {
      if (seesAll() && runs !== undefined) return await runs.compare(baseline, candidate);
      throw new TriageError('not-found', 'There is no such run.');
    }),
  };
}

/** Limits changes to the repositories that the caller may see. */
export function scopeChanges(
  changes: Changes,
  stores: Pick<Stores, 'builds'>,
  scope: Scope,
): Scoped<Changes> {
  const { checkedByHand } = createScopeChecks(stores, scope);
  const limit = (followed: Followed): Followed => ({ ...followed, repositories: scope.repositories() });
  return {
    stopping: changes.stopping,
    stop: checkedByHand(changes.stop),
    since: checkedByHand(async (followed: Followed, milliseconds: number) =>
      changes.since(limit(followed), milliseconds),
    ),
    follow: checkedByHand((followed: Followed, tell: () => void) => changes.follow(limit(followed), tell)),
  };
}

/**
 * Limits deliveries for users with a restricted scope to those with a visible build, because a delivery names
 * no repository.
 */
function scopeDeliveries(
  { deliveries }: Stores,
  { canSeeBuild, visible }: ScopeChecks,
): ScopedStores['deliveries'] {
  return {
    find: visible(
      deliveries.find,
      async ({ buildId }, sql) => buildId !== null && (await canSeeBuild(buildId, sql)),
    ),
  };
}

function scopeBuilds(
  { builds }: Stores,
  { hasVisibleRepository, limited, ofBuild, visible }: ScopeChecks,
): ScopedStores['builds'] {
  return {
    find: visible(builds.find, hasVisibleRepository),
    list: limited(builds.list),
    offers: limited(builds.offers),
    repositories: limited(builds.repositories),
    logsForgottenAt: ofBuild(builds.logsForgottenAt, () => null),
  };
}

function scopeAnalyses(
  { analyses }: Stores,
  { canSeeBuild, checkedByHand, ofBuild, visible }: ScopeChecks,
): ScopedStores['analyses'] {
  return {
    find: visible(analyses.find, async ({ buildId }, sql) => await canSeeBuild(buildId, sql)),
    listByBuild: ofBuild(analyses.listByBuild, () => []),
    heads: checkedByHand(async (buildIds: readonly string[]) => {
      const seen = await Promise.all(buildIds.map(async (id) => ((await canSeeBuild(id)) ? [id] : [])));
      return await analyses.heads(seen.flat());
    }),
  };
}

/** Limits grades to answers of visible builds. The build that proves a grade is of the same repository. */
function scopeGrades(
  { grades }: Stores,
  { canSeeBuild, limited, ofBuild, visible }: ScopeChecks,
): ScopedStores['grades'] {
  return {
    find: visible(grades.find, async ({ mend }, sql) => await canSeeBuild(mend.red.id, sql)),
    counts: limited(grades.counts),
    list: limited(grades.list),
    listFixedBefore: ofBuild(grades.listFixedBefore, () => []),
  };
}

function scopeFailures({ failures }: Stores, { limited, ofBuild }: ScopeChecks): ScopedStores['failures'] {
  return {
    search: limited(failures.search),
    listByBuild: ofBuild(failures.listByBuild, () => []),
    groupsOfBuild: ofBuild(failures.groupsOfBuild, () => []),
    // All results are of the build's own repository.
    histories: ofBuild(failures.histories, () => null),
  };
}

function scopeHistory(
  { history }: Stores,
  { allows, checkedByHand, ofRepository, repositories }: ScopeChecks,
): ScopedStores['history'] {
  return {
    failureHistory: ofRepository(history.failureHistory, () => []),
    similarFailures: checkedByHand(async (query: Parameters<typeof history.similarFailures>[0]) => {
      const asked = query.repositories?.filter(allows) ?? repositories();
      const found = await history.similarFailures(asked === null ? query : { ...query, repositories: asked });
      return found.filter(({ repository }) => allows(repository));
    }),
  };
}

function scopeLibrary({ library }: Stores, checks: ScopeChecks): ScopedStores['library'] {
  const { hasVisibleRepository, limited, limitedSecond, ofRepository, visible, visibleOnly, when, writes } =
    checks;
  const find = visible(library.find, hasVisibleRepository);
  const ofEntry = when<string>(async (id, sql) => (await find(id, sql)) !== null);
  return {
    find,
    insert: writes('the data of', library.insert, ({ repository }) => repository),
    alone: writes('the data of', library.alone, ({ repository }) => repository),
    recall: ofRepository(library.recall, () => null),
    list: limitedSecond(library.list, {}),
    offers: limited(library.offers),
    ofDecision: visibleOnly(library.ofDecision, hasVisibleRepository),
    withdraw: ofEntry(library.withdraw, () => null),
    restore: ofEntry(library.restore, () => null),
    stay: ofEntry(library.stay, () => null),
  };
}

/** Limits links to the CI of a build, and reruns, to users who may see the build. */
function scopeCiLinks({ ciLinks }: Stores, { checkedByHand, ofBuild }: ScopeChecks): ScopedStores['ciLinks'] {
  return {
    logPages: ofBuild(ciLinks.logPages, () => new Map()),
    reruns: ofBuild(ciLinks.reruns, () => []),
    beginRerun: ofBuild(ciLinks.beginRerun, () => null),
    // A rerun must be begun before it is ended, and beginning checks it.
    endRerun: checkedByHand(ciLinks.endRerun),
  };
}

function scopeCauses({ causes }: Stores, checks: ScopeChecks): ScopedStores['causes'] {
  const { limited, limitedSecond, ofRepository } = checks;
  return {
    list: limited(causes.list),
    counts: limited(causes.counts),
    ofFingerprint: limitedSecond(causes.ofFingerprint, {}),
    countPerDay: limited(causes.countPerDay),
    ofTests: limited(causes.ofTests),
    offers: limited(causes.offers),
    listMerged: ofRepository(causes.listMerged, () => []),
    undo: limited(causes.undo),
    events: ofRepository(causes.events, () => []),
    change: ofRepository(causes.change, () => null),
  };
}

function scopeExperiments(
  { experiments }: Stores,
  { canSeeBuild, checkedByHand, ofBuild }: ScopeChecks,
): ScopedStores['experiments'] {
  return {
    add: checkedByHand(async (...[buildId, experiment, by, sql]: Parameters<typeof experiments.add>) => {
      if (!(await canSeeBuild(buildId, sql)))
        throw new TriageError('not-found', `There is no build ${buildId}.`);
      await experiments.add(buildId, experiment, by, sql);
    }),
    apply: ofBuild(experiments.apply, () => []),
  };
}

/**
 * Shows rules for every repository to all users, but lets only users with unrestricted access change them.
 */
function scopeRules({ rules }: Stores, scope: ScopeChecks): ScopedStores['rules'] {
  const { allows, checkedByHand, limitedSecond, seesAll, visible, writes } = scope;
  const find = visible(rules.find, ({ repository }) => repository === null || allows(repository));
  return {
    find,
    list: limitedSecond(rules.list, {}),
    // The number of rules is limited for all repositories together.
    countActive: checkedByHand(rules.countActive),
    add: writes('rules for', rules.add, ({ repository }) => repository),
    withdraw: checkedByHand(async (...[id, by, reason, sql]: Parameters<typeof rules.withdraw>) => {
      if (!seesAll()) {
        const rule = await find(id, sql);
        if (rule === null) return null;
        requireVisible('rules for', rule.repository, scope);
      }
      return await rules.withdraw(id, by, reason, sql);
    }),
    restore: checkedByHand(async (...[id, by, sql]: Parameters<typeof rules.restore>) => {
      if (!seesAll()) {
        const rule = await find(id, sql);
        if (rule === null) return null;
        requireVisible('rules for', rule.repository, scope);
      }
      return await rules.restore(id, by, sql);
    }),
  };
}

/** Limits rules for every repository, and the channels of owners, to users with unrestricted access. */
function scopeNotificationRules(
  { notificationRules: rules }: Stores,
  scope: ScopeChecks,
): ScopedStores['notificationRules'] {
  const { allows, checkedByHand, hasVisibleRepository, repositories, seesAll } = scope;
  const { visible, visibleOnly, when, writes } = scope;
  const find = visible(rules.find, ({ repository }) => repository !== null && allows(repository));
  const isVisible = async (id: string | null) => id !== null && (await find(id)) !== null;
  const ofRule = when(isVisible);
  const change = ofRule(rules.change, () => null);
  return {
    find,
    list: checkedByHand(async (filter: Parameters<typeof rules.list>[0] = {}) =>
      rules.list(withLimit(filter, scope)),
    ),
    add: writes('notification rules for', rules.add, (_rule, repository) => repository),
    change: writes('notification rules for', change, (_id, _version, _rule, repository) => repository),
    remove: ofRule(rules.remove, () => false),
    events: ofRule(rules.events, () => []),
    messages: ofRule(rules.messages, () => []),
    owners: checkedByHand(async () => (seesAll() ? await rules.owners() : [])),
    setOwner: writes('the channels of owners in', rules.setOwner, () => null),
    answers: visibleOnly(rules.answers, hasVisibleRepository),
    changes: checkedByHand(async (...[states, since, limit]: Parameters<typeof rules.changes>) =>
      rules.changes(states, since, limit, repositories() ?? undefined),
    ),
  };
}

type ReviewLists = Pick<
  ScopedStores['reviews'],
  'list' | 'listGroups' | 'offers' | 'counts' | 'lastDecision' | 'next'
>;

function scopeReviewLists({ reviews }: Stores, { limited, limitedSecond }: ScopeChecks): ReviewLists {
  return {
    list: limited(reviews.list),
    listGroups: limited(reviews.listGroups),
    offers: limited(reviews.offers),
    counts: limitedSecond(reviews.counts, {}),
    lastDecision: limitedSecond(reviews.lastDecision, {}),
    next: limited(reviews.next),
  };
}

/** Limits the methods that access one review by its id. */
function scopeReviewItems(
  { reviews }: Stores,
  checks: ScopeChecks,
): Omit<ScopedStores['reviews'], keyof ReviewLists> {
  const { hasVisibleRepository, visible, visibleOnly, when, writes } = checks;
  const find = visible(reviews.find, hasVisibleRepository);
  const ofReview = when<string>(async (id, sql) => (await find(id, sql)) !== null);
  const isVisible = async ({ reviewId }: { readonly reviewId: string }, sql?: Sql) =>
    (await find(reviewId, sql)) !== null;
  return {
    find,
    open: writes('reviews of', reviews.open, ({ repository }) => repository),
    findByAnalysis: visible(reviews.findByAnalysis, hasVisibleRepository),
    listSame: ofReview(reviews.listSame, () => []),
    claim: ofReview(reviews.claim, () => null),
    takeOver: ofReview(reviews.takeOver, () => null),
    release: ofReview(reviews.release, () => null),
    skip: ofReview(reviews.skip, () => null),
    decide: ofReview(reviews.decide, () => null),
    undo: when(isVisible)(reviews.undo, () => null),
    batch: visibleOnly(reviews.batch, isVisible),
    lastUndone: ofReview(reviews.lastUndone, () => null),
    events: ofReview(reviews.events, () => []),
  };
}

function scopeQuestions({ questions }: Stores, checks: ScopeChecks): ScopedStores['questions'] {
  const { hasVisibleRepository, limited, visible, when } = checks;
  const find = visible(questions.find, hasVisibleRepository);
  const ofQuestion = when<string>(async (id) => (await find(id)) !== null);
  return { find, list: limited(questions.list), answer: ofQuestion(questions.answer, () => null) };
}

function scopeFlakiness({ flakiness }: Stores, checks: ScopeChecks): ScopedStores['flakiness'] {
  const { hasVisibleRepository, limited, ofRepository, visible } = checks;
  return {
    list: limited(flakiness.list),
    ofTest: visible(flakiness.ofTest, hasVisibleRepository),
    find: limited(flakiness.find),
    costs: limited(flakiness.costs),
    listFailing: limited(flakiness.listFailing),
    runs: ofRepository(flakiness.runs, () => []),
    quarantine: ofRepository(flakiness.quarantine, () => null),
  };
}

function scopeInsights(
  { insights }: Stores,
  scope: Scope,
  { checkedByHand, limited, limitedSecond }: ScopeChecks,
): ScopedStores['insights'] {
  return {
    decided: limited(insights.decided),
    answered: limited(insights.answered),
    trackRecord: checkedByHand(
      async (...[confidence, category, filter = {}]: Parameters<typeof insights.trackRecord>) =>
        insights.trackRecord(confidence, category, withLimit(filter, scope)),
    ),
    categoriesPerDay: limited(insights.categoriesPerDay),
    topCauses: limited(insights.topCauses),
    countCauses: limited(insights.countCauses),
    cause: checkedByHand(async (...[fingerprint, until, filter = {}]: Parameters<typeof insights.cause>) =>
      insights.cause(fingerprint, until, withLimit(filter, scope)),
    ),
    compared: limitedSecond(insights.compared, {}),
    perWeek: limited(insights.perWeek),
    reviewing: limited(insights.reviewing),
  };
}

/** Limits the passing builds on which a rule is tried, because the result quotes the matching lines. */
function scopePassingBuilds(
  { passingBuilds }: Stores,
  { allows, canSeeBuild, checkedByHand, seesAll }: ScopeChecks,
): ScopedStores['passingBuilds'] {
  return {
    newest: checkedByHand(async (...[repository, limit]: Parameters<typeof passingBuilds.newest>) => {
      if (repository !== null && !allows(repository)) return [];
      const found = await passingBuilds.newest(repository, limit);
      if (repository !== null || seesAll()) return found;
      const seen = await Promise.all(found.map(({ build }) => canSeeBuild(build.buildId)));
      return found.filter((_, at) => seen[at] === true);
    }),
  };
}

const UNKNOWN = { heads: [], defaultBranch: null, usualMs: null };

function scopeNotices(
  { notices }: Stores,
  { canSeeBuild, checkedByHand, ofRepository, when }: ScopeChecks,
): ScopedStores['notices'] {
  const ofBuildIn = when(
    async ({ buildId }: { readonly buildId: string }, sql) => await canSeeBuild(buildId, sql),
  );
  return {
    changed: ofBuildIn(notices.changed, () => false),
    situation: checkedByHand(async (about: Parameters<typeof notices.situation>[0]) =>
      (await canSeeBuild(about.type === 'build' ? about.buildId : ''))
        ? await notices.situation(about)
        : { ...UNKNOWN, about },
    ),
    pages: ofRepository(notices.pages, () => []),
  };
}
