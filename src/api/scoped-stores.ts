import { SCOPED, type Scoped } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import type { Sql } from '../ports/database.ts';
import type { KeptRuns } from '../ports/kept-runs.ts';
import type { Ask } from '../service/ask/ask.ts';
import type { Changes, Followed } from '../service/changes.ts';
import type { ScopedStores, ShownArchive, ShownStores, Stores } from '../stores/stores.ts';
import { type Held, heldTo, type Scope, within } from './scope.ts';

/**
 * Stores that hold only what the asker may see; everything else is as if it were not there. Each method is
 * said out: one that the ports gain is out of a route's reach until it is here too.
 */
export function scopeStores(stores: Stores, scope: Scope): ScopedStores {
  const { preferences } = stores;
  const held = heldTo(stores, scope);
  return {
    deliveries: marked(scopeDeliveries(stores, held)),
    builds: marked(scopeBuilds(stores, held)),
    triages: marked({
      findByBuild: async (id, sql) =>
        (await held.build(id, sql)) ? await stores.triages.findByBuild(id, sql) : null,
    }),
    analyses: marked(scopeAnalyses(stores, held)),
    runSteps: marked({
      after: async (id, position) =>
        (await held.build(id)) ? await stores.runSteps.after(id, position) : [],
    }),
    failures: marked(scopeFailures(stores, held)),
    history: marked(scopeHistory(stores, held)),
    library: marked(scopeLibrary(stores, held)),
    rules: marked(scopeRules(stores, held)),
    reviews: marked(scopeReviews(stores, held)),
    questions: marked(scopeQuestions(stores, held)),
    flakiness: marked(scopeFlakiness(stores, held)),
    insights: marked(scopeInsights(stores, held)),
    health: marked({
      pipelines: async (period, limit) =>
        await stores.health.pipelines({ ...period, ...within(held) }, limit),
      repository: async (period, limit) =>
        await stores.health.repository({ ...period, ...within(held) }, limit),
      unreadLogs: async (period, limit) =>
        await stores.health.unreadLogs({ ...period, ...within(held) }, limit),
      addDeployment: async (deployment) => {
        held.require('deployments of', deployment.repository);
        await stores.health.addDeployment(deployment);
      },
    }),
    outside: marked(scopeOutside(stores, held)),
    trust: marked({
      changes: async (filter) => await stores.trust.changes({ ...filter, ...within(held) }),
      answers: async (period, which, page) =>
        await stores.trust.answers({ ...period, ...within(held) }, which, page),
    }),
    causes: marked(scopeCauses(stores, held)),
    experiments: marked(scopeExperiments(stores, held)),
    notificationRules: marked(scopeNotificationRules(stores, held)),
    passingBuilds: marked(scopeGreens(stores, held)),
    notices: marked({
      changed: async (of, sql) =>
        (await held.build(of.buildId, sql)) && (await stores.notices.changed(of, sql)),
      situation: async (about) =>
        (await held.build(about.type === 'build' ? about.buildId : ''))
          ? await stores.notices.situation(about)
          : { ...UNKNOWN, about },
      pages: async (build) => (held.allows(build.repository) ? await stores.notices.pages(build) : []),
    }),
    // Of no repository: what a person has set for the pages, and the texts that a decision hands to the
    // index.
    preferences: marked({
      of: (holder) => preferences.of(holder),
      set: (holder, chosen) => preferences.set(holder, chosen),
    }),
    work: marked({ add: addToIndex(stores) }),
  };
}

const UNKNOWN = { heads: [], defaultBranch: null, usualMs: null };

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

/** Texts of builds that the asker may see. */
export function scopeArchive(
  archive: ShownArchive,
  stores: Pick<Stores, 'builds'>,
  scope: Scope,
): ShownArchive & Scoped {
  const { build } = heldTo(stores, scope);
  return marked({
    list: async (buildId) => ((await build(buildId)) ? await archive.list(buildId) : []),
    lines: async (buildId, name, from, to) =>
      (await build(buildId)) ? await archive.lines(buildId, name, from, to) : null,
    pieces: async function* (buildId: string, name: string) {
      if (await build(buildId)) yield* archive.pieces(buildId, name);
    },
  });
}

/** Limits follow-up questions to what the caller may see. */
export function scopeAsk(
  ask: Ask,
  stores: Pick<ShownStores, 'analyses' | 'builds'>,
  scope: Scope,
): Ask & Scoped {
  const hides = async (buildId: string) =>
    scope.repositories() !== null && (await stores.builds.find(buildId)) === null;
  const seen: Ask['thread'] = async (id) => {
    const found = await ask.thread(id);
    if (await hides(found.thread.buildId)) throw new TriageError('not-found', `There is no thread ${id}.`);
    return found;
  };
  return marked({
    byRules: ask.byRules,
    open: async (input) => {
      if (scope.repositories() === null) return await ask.open(input);
      if ('analysisId' in input.about && (await stores.analyses.find(input.about.analysisId)) === null)
        throw new TriageError('not-found', `There is no analysis ${input.about.analysisId}.`);
      if ('buildId' in input.about && (await hides(input.about.buildId)))
        throw new TriageError('not-found', `There is no build ${input.about.buildId}.`);
      if (input.threadId !== undefined) await seen(input.threadId);
      return await ask.open(input);
    },
    // What is answered was opened.
    answer: async (opened, watcher, signal) => await ask.answer(opened, watcher, signal),
    threads: async (filter, page) => await ask.threads({ ...filter, ...within(scope) }, page),
    thread: seen,
    forget: async (id) => {
      await seen(id);
      await ask.forget(id);
    },
  });
}

/**
 * Shows replays only to users who may see every repository, because a replay mixes the failures of all of
 * them.
 */
export function scopeKeptRuns(runs: KeptRuns | undefined, scope: Scope): KeptRuns & Scoped {
  return marked({
    list: async () => (scope.repositories() === null ? ((await runs?.list()) ?? []) : null),
    compare: async (baseline, candidate) => {
      if (scope.repositories() === null && runs !== undefined) return await runs.compare(baseline, candidate);
      throw new TriageError('not-found', 'There is no such run.');
    },
  });
}

/** Changes of what the asker may see. */
export function scopeChanges(changes: Changes, scope: Scope): Changes & Scoped {
  const held: (followed: Followed) => Followed = (followed) => ({
    ...followed,
    repositories: scope.repositories(),
  });
  return marked({
    ...changes,
    since: async (followed, milliseconds) => await changes.since(held(followed), milliseconds),
    follow: (followed, tell) => changes.follow(held(followed), tell),
  });
}

/**
 * Limits deliveries for users with a restricted scope to those with a visible build, because a delivery names
 * no repository.
 */
function scopeDeliveries({ deliveries }: Stores, held: Held): ShownStores['deliveries'] {
  return {
    find: async (source, id, sql) => {
      const kept = await deliveries.find(source, id, sql);
      if (kept === null || held.repositories() === null) return kept;
      return kept.buildId !== null && (await held.build(kept.buildId, sql)) ? kept : null;
    },
  };
}

function scopeBuilds({ builds }: Stores, held: Held): ShownStores['builds'] {
  return {
    find: async (id, sql) => held.shown(await builds.find(id, sql)),
    list: async (filter, page) => await builds.list({ ...filter, ...within(held) }, page),
    logsForgottenAt: async (id) => ((await held.build(id)) ? await builds.logsForgottenAt(id) : null),
  };
}

function scopeAnalyses({ analyses }: Stores, held: Held): ShownStores['analyses'] {
  return {
    find: async (id) => {
      const analysis = await analyses.find(id);
      return analysis !== null && (await held.build(analysis.buildId)) ? analysis : null;
    },
    listByBuild: async (buildId) => ((await held.build(buildId)) ? await analyses.listByBuild(buildId) : []),
    heads: async (buildIds) => {
      const visible = await Promise.all(buildIds.map(async (id) => ((await held.build(id)) ? [id] : [])));
      return await analyses.heads(visible.flat());
    },
  };
}

function scopeFailures({ failures }: Stores, held: Held): ShownStores['failures'] {
  return {
    search: async (filter, page) => await failures.search({ ...filter, ...within(held) }, page),
    listByBuild: async (buildId) => ((await held.build(buildId)) ? await failures.listByBuild(buildId) : []),
    groupsOfBuild: async (buildId) =>
      (await held.build(buildId)) ? await failures.groupsOfBuild(buildId) : [],
  };
}

function scopeHistory({ history }: Stores, held: Held): ShownStores['history'] {
  return {
    failureHistory: async (query) =>
      held.allows(query.repository) ? await history.failureHistory(query) : [],
    similarFailures: async (query) => {
      const asked = query.repositories?.filter((repository) => held.allows(repository));
      const found = await history.similarFailures({
        ...query,
        ...(asked === undefined ? within(held) : { repositories: asked }),
      });
      return found.filter(({ repository }) => held.allows(repository));
    },
  };
}

function scopeLibrary({ library }: Stores, held: Held): ShownStores['library'] {
  const find: ShownStores['library']['find'] = async (id, sql) => held.shown(await library.find(id, sql));
  const isVisible = async (id: string, sql?: Sql) =>
    held.repositories() === null || (await find(id, sql)) !== null;
  return {
    find,
    insert: async (entry, sql) => {
      held.require('the data of', entry.repository);
      await library.insert(entry, sql);
    },
    alone: async (key, sql) => {
      held.require('the data of', key.repository);
      await library.alone(key, sql);
    },
    recall: async (key, sql) => (held.allows(key.repository) ? await library.recall(key, sql) : null),
    list: async (page, filter = {}) => await library.list(page, { ...filter, ...within(held) }),
    ofDecision: async (id, sql) =>
      (await library.ofDecision(id, sql)).filter(({ repository }) => held.allows(repository)),
    withdraw: async (id, by, reason, sql) =>
      (await isVisible(id, sql)) ? await library.withdraw(id, by, reason, sql) : null,
    stay: async (id, by, sql) => ((await isVisible(id, sql)) ? await library.stay(id, by, sql) : null),
  };
}

/** Limits links to the CI of a build, and reruns, to users who may see the build. */
function scopeOutside({ outside }: Stores, held: Held): ShownStores['outside'] {
  return {
    logPages: async (buildId) => ((await held.build(buildId)) ? await outside.logPages(buildId) : new Map()),
    reruns: async (buildId) => ((await held.build(buildId)) ? await outside.reruns(buildId) : []),
    beginRerun: async (buildId, by) =>
      (await held.build(buildId)) ? await outside.beginRerun(buildId, by) : null,
    // What is ended was begun.
    endRerun: async (id, error) => await outside.endRerun(id, error),
  };
}

/**
 * Shows rules for every repository to all users, but lets only users with unrestricted access change them.
 */
function scopeCauses({ causes }: Stores, held: Held): ShownStores['causes'] {
  return {
    list: async (filter, page) => await causes.list({ ...filter, ...within(held) }, page),
    counts: async (filter) => await causes.counts({ ...filter, ...within(held) }),
    ofFingerprint: async (fingerprint, filter = {}) =>
      await causes.ofFingerprint(fingerprint, { ...filter, ...within(held) }),
    events: async (key, limit) => (held.allows(key.repository) ? await causes.events(key, limit) : []),
    change: async (key, change, by, now, sql) =>
      held.allows(key.repository) ? await causes.change(key, change, by, now, sql) : null,
  };
}

function scopeExperiments({ experiments }: Stores, held: Held): ShownStores['experiments'] {
  return {
    add: async (buildId, experiment, by, sql) => {
      if (!(await held.build(buildId, sql)))
        throw new TriageError('not-found', `There is no build ${buildId}.`);
      await experiments.add(buildId, experiment, by, sql);
    },
    apply: async (buildId, sql) =>
      (await held.build(buildId, sql)) ? await experiments.apply(buildId, sql) : [],
  };
}

function scopeRules({ rules }: Stores, held: Held): ShownStores['rules'] {
  const find: ShownStores['rules']['find'] = async (id, sql) => {
    const rule = await rules.find(id, sql);
    return rule !== null && (rule.repository === null || held.allows(rule.repository)) ? rule : null;
  };
  return {
    find,
    list: async (page, filter = {}) => await rules.list(page, { ...filter, ...within(held) }),
    // How many there are is bounded for all together.
    countActive: async (sql) => await rules.countActive(sql),
    add: async (rule, sql) => {
      held.require('rules for', rule.repository);
      await rules.add(rule, sql);
    },
    withdraw: async (id, by, reason, sql) => {
      if (held.repositories() !== null) {
        const rule = await find(id, sql);
        if (rule === null) return null;
        held.require('rules for', rule.repository);
      }
      return await rules.withdraw(id, by, reason, sql);
    },
  };
}

/** Limits rules for every repository, and the channels of owners, to users with unrestricted access. */
function scopeNotificationRules(
  { notificationRules: rules }: Stores,
  held: Held,
): ShownStores['notificationRules'] {
  const seesAll = () => held.repositories() === null;
  const find: ShownStores['notificationRules']['find'] = async (id) => {
    const rule = await rules.find(id);
    return seesAll() || (rule !== null && rule.repository !== null && held.allows(rule.repository))
      ? rule
      : null;
  };
  const isVisible = async (id: string | null) => seesAll() || (id !== null && (await find(id)) !== null);
  return {
    find,
    list: async (filter = {}) => await rules.list({ ...filter, ...within(held) }),
    add: async (rule, repository, by) => {
      held.require('notification rules for', repository);
      return await rules.add(rule, repository, by);
    },
    change: async (id, version, rule, repository, by) => {
      held.require('notification rules for', repository);
      return (await isVisible(id)) ? await rules.change(id, version, rule, repository, by) : null;
    },
    remove: async (id, by) => (await isVisible(id)) && (await rules.remove(id, by)),
    events: async (id, limit) => ((await isVisible(id)) ? await rules.events(id, limit) : []),
    messages: async (id, limit) => ((await isVisible(id)) ? await rules.messages(id, limit) : []),
    owners: async () => (seesAll() ? await rules.owners() : []),
    setOwner: async (channels, by) => {
      held.require('the channels of owners in', null);
      await rules.setOwner(channels, by);
    },
    answers: async (ids) => (await rules.answers(ids)).filter(({ repository }) => held.allows(repository)),
    changes: async (states, since, limit) =>
      await rules.changes(states, since, limit, held.repositories() ?? undefined),
  };
}

function scopeReviews(stores: Stores, held: Held): ShownStores['reviews'] {
  const { reviews } = stores;
  return {
    ...scopeReviewLists(stores, held),
    ...scopeReviewItems(stores, held),
    open: async (review, sql) => {
      held.require('reviews of', review.repository);
      return await reviews.open(review, sql);
    },
  };
}

type ReviewLists = Pick<ShownStores['reviews'], 'list' | 'listGroups' | 'counts' | 'lastDecision' | 'next'>;

function scopeReviewLists({ reviews }: Stores, held: Held): ReviewLists {
  return {
    list: async (filter, page, sort) => await reviews.list({ ...filter, ...within(held) }, page, sort),
    listGroups: async (filter, page, sort) =>
      await reviews.listGroups({ ...filter, ...within(held) }, page, sort),
    counts: async (reviewer, filter = {}) => await reviews.counts(reviewer, { ...filter, ...within(held) }),
    lastDecision: async (reviewer, filter = {}) =>
      await reviews.lastDecision(reviewer, { ...filter, ...within(held) }),
    next: async (filter, query) => await reviews.next({ ...filter, ...within(held) }, query),
  };
}

/**
 * Limits the methods that access one review by its id. They use the caller's transaction if there is one,
 * because no other connection may be used inside it.
 */
function scopeReviewItems(
  { reviews }: Stores,
  held: Held,
): Omit<ShownStores['reviews'], keyof ReviewLists | 'open'> {
  const find: ShownStores['reviews']['find'] = async (id, sql) => held.shown(await reviews.find(id, sql));
  const isVisible = async (id: string, sql?: Sql) =>
    held.repositories() === null || (await find(id, sql)) !== null;
  return {
    find,
    findByAnalysis: async (analysisId, sql) => held.shown(await reviews.findByAnalysis(analysisId, sql)),
    listSame: async (id, reviewer, limit, sql) =>
      (await isVisible(id, sql)) ? await reviews.listSame(id, reviewer, limit, sql) : [],
    claim: async (id, reviewer, claimMs) =>
      (await isVisible(id)) ? await reviews.claim(id, reviewer, claimMs) : null,
    takeOver: async (id, reviewer, claimMs) =>
      (await isVisible(id)) ? await reviews.takeOver(id, reviewer, claimMs) : null,
    release: async (id, reviewer) => ((await isVisible(id)) ? await reviews.release(id, reviewer) : null),
    skip: async (id, reviewer) => ((await isVisible(id)) ? await reviews.skip(id, reviewer) : null),
    decide: async (id, version, decision, sql) =>
      (await isVisible(id, sql)) ? await reviews.decide(id, version, decision, sql) : null,
    undo: async (decision, by, sql) =>
      (await isVisible(decision.reviewId, sql)) ? await reviews.undo(decision, by, sql) : null,
    batch: async (batchId, sql) => {
      const seen = [];
      for (const one of await reviews.batch(batchId, sql))
        if (await isVisible(one.reviewId, sql)) seen.push(one);
      return seen;
    },
    lastUndone: async (id, sql) => ((await isVisible(id, sql)) ? await reviews.lastUndone(id, sql) : null),
    guess: async (id, reviewer, category) => {
      if (!(await isVisible(id))) throw new TriageError('not-found', `There is no review ${id}.`);
      return await reviews.guess(id, reviewer, category);
    },
    findGuess: async (id, reviewer, sql) =>
      (await isVisible(id, sql)) ? await reviews.findGuess(id, reviewer, sql) : null,
    events: async (id) => ((await isVisible(id)) ? await reviews.events(id) : []),
  };
}

function scopeQuestions({ questions }: Stores, held: Held): ShownStores['questions'] {
  const find: ShownStores['questions']['find'] = async (id) => held.shown(await questions.find(id));
  return {
    find,
    list: async (filter, page) => await questions.list({ ...filter, ...within(held) }, page),
    answer: async (id, answer, by) =>
      held.repositories() !== null && (await find(id)) === null
        ? null
        : await questions.answer(id, answer, by),
  };
}

function scopeFlakiness({ flakiness }: Stores, held: Held): ShownStores['flakiness'] {
  return {
    list: async (filter, page) => await flakiness.list({ ...filter, ...within(held) }, page),
    ofTest: async (test) => held.shown(await flakiness.ofTest(test)),
    costs: async (query, page) => await flakiness.costs({ ...query, ...within(held) }, page),
    runs: async (test) => (held.allows(test.repository) ? await flakiness.runs(test) : []),
    quarantine: async (test, quarantine, sql) =>
      held.allows(test.repository) ? await flakiness.quarantine(test, quarantine, sql) : null,
  };
}

function scopeInsights({ insights }: Stores, held: Held): ShownStores['insights'] {
  return {
    decided: async (period) => await insights.decided({ ...period, ...within(held) }),
    answered: async (period) => await insights.answered({ ...period, ...within(held) }),
    trackRecord: async (confidence, category, filter) =>
      await insights.trackRecord(confidence, category, { ...filter, ...within(held) }),
    categoriesPerDay: async (period) => await insights.categoriesPerDay({ ...period, ...within(held) }),
    topCauses: async (period, limit, offset) =>
      await insights.topCauses({ ...period, ...within(held) }, limit, offset),
    countCauses: async (period) => await insights.countCauses({ ...period, ...within(held) }),
    cause: async (fingerprint, until, filter) =>
      await insights.cause(fingerprint, until, { ...filter, ...within(held) }),
    compared: async (fingerprint, filter) =>
      await insights.compared(fingerprint, { ...filter, ...within(held) }),
    perWeek: async (period) => await insights.perWeek({ ...period, ...within(held) }),
    reviewing: async (period) => await insights.reviewing({ ...period, ...within(held) }),
  };
}

/** Limits the passing builds that a rule is tried on, because the result quotes the lines that match. */
function scopeGreens({ passingBuilds }: Stores, held: Held): ShownStores['passingBuilds'] {
  return {
    newest: async (repository, limit) => {
      if (repository !== null && !held.allows(repository)) return [];
      const found = await passingBuilds.newest(repository, limit);
      if (repository !== null || held.repositories() === null) return found;
      const visible = await Promise.all(found.map(({ build }) => held.build(build.buildId)));
      return found.filter((_, at) => visible[at] === true);
    },
  };
}

function marked<Store extends object>(store: Store): Store & Scoped {
  return { ...store, [SCOPED]: true };
}
