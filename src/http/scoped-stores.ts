import type { Ask } from '../ask/ask.ts';
import { TriageError } from '../domain/errors.ts';
import type { Stores } from '../ports/stores.ts';
import type { Scope } from './scope.ts';

/** The stores that routes read and decide with. */
export type ShownStores = Pick<
  Stores,
  | 'builds'
  | 'triages'
  | 'analyses'
  | 'runSteps'
  | 'failures'
  | 'history'
  | 'library'
  | 'rules'
  | 'reviews'
  | 'questions'
  | 'flakiness'
  | 'insights'
  | 'greens'
>;

/** Stores that hold only what the asker may see; everything else is as if it were not there. */
export function scopeStores(stores: Stores, scope: Scope): Stores {
  const shown: ShownStores = {
    builds: scopeBuilds(stores, scope),
    triages: stores.triages,
    analyses: scopeAnalyses(stores, scope),
    runSteps: scopeRunSteps(stores, scope),
    failures: scopeFailures(stores, scope),
    history: scopeHistory(stores, scope),
    library: scopeLibrary(stores, scope),
    rules: scopeRules(stores, scope),
    reviews: scopeReviews(stores, scope),
    questions: scopeQuestions(stores, scope),
    flakiness: scopeFlakiness(stores, scope),
    insights: scopeInsights(stores, scope),
    greens: scopeGreens(stores, scope),
  };
  return changed(stores, shown);
}

/** Follow-up questions about what the asker may see. */
export function scopeAsk(ask: Ask, stores: Pick<Stores, 'analyses' | 'builds'>, scope: Scope): Ask {
  const hides = async (buildId: string) => scope.repositories() !== null && (await stores.builds.find(buildId)) === null;
  const seen: Ask['thread'] = async (id) => {
    const found = await ask.thread(id);
    if (await hides(found.thread.buildId)) throw new TriageError('not-found', `There is no thread ${id}.`);
    return found;
  };
  return changed(ask, {
    open: async (input) => {
      if (scope.repositories() === null) return await ask.open(input);
      if ('analysisId' in input.about && (await stores.analyses.find(input.about.analysisId)) === null)
        throw new TriageError('not-found', `There is no analysis ${input.about.analysisId}.`);
      if (input.threadId !== undefined) await seen(input.threadId);
      return await ask.open(input);
    },
    threads: async (filter, page) => await ask.threads({ ...filter, ...within(scope) }, page),
    thread: seen,
    forget: async (id) => {
      await seen(id);
      await ask.forget(id);
    },
  });
}

function scopeBuilds({ builds }: Stores, scope: Scope): Stores['builds'] {
  const visible = <Value extends { readonly repository: string }>(one: Value | null) =>
    one !== null && scope.allows(one.repository) ? one : null;
  return changed(builds, {
    find: async (id) => visible(await builds.find(id)),
    findByExternalId: async (key, sql) => visible(await builds.findByExternalId(key, sql)),
    list: async (filter, page) => await builds.list({ ...filter, ...within(scope) }, page),
  });
}

function scopeAnalyses({ analyses, builds }: Stores, scope: Scope): Stores['analyses'] {
  const isVisible = async (buildId: string) => {
    if (scope.repositories() === null) return true;
    const build = await builds.find(buildId);
    return build !== null && scope.allows(build.repository);
  };
  return changed(analyses, {
    find: async (id) => {
      const analysis = await analyses.find(id);
      return analysis !== null && (await isVisible(analysis.buildId)) ? analysis : null;
    },
    listByBuild: async (buildId) => ((await isVisible(buildId)) ? await analyses.listByBuild(buildId) : []),
    heads: async (buildIds) => {
      const visible = await Promise.all(buildIds.map(async (id) => ((await isVisible(id)) ? [id] : [])));
      return await analyses.heads(visible.flat());
    },
  });
}

function scopeRunSteps({ runSteps, builds }: Stores, scope: Scope): Stores['runSteps'] {
  return changed(runSteps, {
    after: async (buildId, position) => {
      const build = scope.repositories() === null ? null : await builds.find(buildId);
      return build !== null && !scope.allows(build.repository) ? [] : await runSteps.after(buildId, position);
    },
  });
}

function scopeFailures({ failures, builds }: Stores, scope: Scope): Stores['failures'] {
  return changed(failures, {
    search: async (filter, page) => await failures.search({ ...filter, ...within(scope) }, page),
    listByBuild: async (buildId) => {
      const build = scope.repositories() === null ? null : await builds.find(buildId);
      return build !== null && !scope.allows(build.repository) ? [] : await failures.listByBuild(buildId);
    },
  });
}

function scopeHistory({ history }: Stores, scope: Scope): Stores['history'] {
  return changed(history, {
    failureHistory: async (query) => (scope.allows(query.repository) ? await history.failureHistory(query) : []),
    consecutiveFailures: async (query) =>
      scope.allows(query.repository)
        ? await history.consecutiveFailures(query)
        : { count: 0, firstBuild: null, lastGreen: null, same: 0, firstSame: null },
    similarFailures: async (query) => {
      const asked = query.repositories?.filter((repository) => scope.allows(repository));
      const found = await history.similarFailures({ ...query, ...(asked === undefined ? within(scope) : { repositories: asked }) });
      return found.filter(({ repository }) => scope.allows(repository));
    },
  });
}

function scopeLibrary({ library }: Stores, scope: Scope): Stores['library'] {
  return changed(library, {
    find: async (id, sql) => {
      const entry = await library.find(id, sql);
      return entry !== null && scope.allows(entry.repository) ? entry : null;
    },
    recall: async (key, sql) => (scope.allows(key.repository) ? await library.recall(key, sql) : null),
    list: async (page, filter = {}) => await library.list(page, { ...filter, ...within(scope) }),
  });
}

/** Rules for every repository are shown to everybody, and changed by those who may see everything. */
function scopeRules({ rules }: Stores, scope: Scope): Stores['rules'] {
  const isVisible = (repository: string | null) => repository === null || scope.allows(repository);
  const refuseOthers = (repository: string | null) => {
    if (scope.repositories() === null || (repository !== null && scope.allows(repository))) return;
    const where = repository === null ? 'every repository' : repository;
    throw new TriageError('forbidden', `Your token may not change rules for ${where}.`);
  };
  return changed(rules, {
    find: async (id, sql) => {
      const rule = await rules.find(id, sql);
      return rule !== null && isVisible(rule.repository) ? rule : null;
    },
    list: async (page, filter = {}) => await rules.list(page, { ...filter, ...within(scope) }),
    add: async (rule, sql) => {
      refuseOthers(rule.repository);
      await rules.add(rule, sql);
    },
    withdraw: async (id, by, reason, sql) => {
      const rule = await rules.find(id, sql);
      if (rule !== null) refuseOthers(rule.repository);
      return await rules.withdraw(id, by, reason, sql);
    },
  });
}

function scopeReviews({ reviews }: Stores, scope: Scope): Stores['reviews'] {
  const find: Stores['reviews']['find'] = async (id, sql) => {
    const review = await reviews.find(id, sql);
    return review !== null && scope.allows(review.repository) ? review : null;
  };
  const isVisible = async (id: string) => scope.repositories() === null || (await find(id)) !== null;
  return changed(reviews, {
    find,
    findByAnalysis: async (analysisId, sql) => {
      const review = await reviews.findByAnalysis(analysisId, sql);
      return review !== null && scope.allows(review.repository) ? review : null;
    },
    list: async (filter, page, sort) => await reviews.list({ ...filter, ...within(scope) }, page, sort),
    listGroups: async (filter, page, sort) => await reviews.listGroups({ ...filter, ...within(scope) }, page, sort),
    counts: async (reviewer, filter = {}) => await reviews.counts(reviewer, { ...filter, ...within(scope) }),
    lastDecision: async (reviewer, filter = {}) => await reviews.lastDecision(reviewer, { ...filter, ...within(scope) }),
    next: async (filter, query) => await reviews.next({ ...filter, ...within(scope) }, query),
    takeOver: async (id, reviewer, claimMs) => ((await isVisible(id)) ? await reviews.takeOver(id, reviewer, claimMs) : null),
    skip: async (id, reviewer) => ((await isVisible(id)) ? await reviews.skip(id, reviewer) : null),
    claim: async (id, reviewer, claimMs) => ((await isVisible(id)) ? await reviews.claim(id, reviewer, claimMs) : null),
    release: async (id, reviewer) => ((await isVisible(id)) ? await reviews.release(id, reviewer) : null),
    // Inside a transaction the outer database must not be asked: whoever decides has found the review before.
    events: async (id) => ((await isVisible(id)) ? await reviews.events(id) : []),
  });
}

function scopeQuestions({ questions }: Stores, scope: Scope): Stores['questions'] {
  const find: Stores['questions']['find'] = async (id) => {
    const question = await questions.find(id);
    return question !== null && scope.allows(question.repository) ? question : null;
  };
  return changed(questions, {
    find,
    list: async (filter, page) => await questions.list({ ...filter, ...within(scope) }, page),
    answer: async (id, answer, by) =>
      scope.repositories() !== null && (await find(id)) === null ? null : await questions.answer(id, answer, by),
  });
}

function scopeFlakiness({ flakiness }: Stores, scope: Scope): Stores['flakiness'] {
  const ofTests: Stores['flakiness']['ofTests'] = async (tests) =>
    (await flakiness.ofTests(tests)).map((found) => (found !== null && scope.allows(found.repository) ? found : null));
  return changed(flakiness, {
    list: async (filter, page) => await flakiness.list({ ...filter, ...within(scope) }, page),
    ofTest: async (test) => (await ofTests([test]))[0] ?? null,
    ofTests,
  });
}

function scopeInsights({ insights }: Stores, scope: Scope): Stores['insights'] {
  return {
    decided: async (period) => await insights.decided({ ...period, ...within(scope) }),
    answered: async (period) => await insights.answered({ ...period, ...within(scope) }),
    trackRecord: async (confidence, category, filter) => await insights.trackRecord(confidence, category, { ...filter, ...within(scope) }),
    categoriesPerDay: async (period) => await insights.categoriesPerDay({ ...period, ...within(scope) }),
    topCauses: async (period, limit) => await insights.topCauses({ ...period, ...within(scope) }, limit),
    cause: async (fingerprint, until, filter) => await insights.cause(fingerprint, until, { ...filter, ...within(scope) }),
    compared: async (fingerprint, filter) => await insights.compared(fingerprint, { ...filter, ...within(scope) }),
    perWeek: async (period) => await insights.perWeek({ ...period, ...within(scope) }),
    reviewing: async (period) => await insights.reviewing({ ...period, ...within(scope) }),
  };
}

/** A rule is tried on what green builds say, and told which line of theirs it matches. */
function scopeGreens({ greens, builds }: Stores, scope: Scope): Stores['greens'] {
  const isVisible = async ({ build }: { readonly build: { readonly buildId: string } }) => {
    const found = await builds.find(build.buildId);
    return found !== null && scope.allows(found.repository);
  };
  return changed(greens, {
    newest: async (repository, limit) => {
      if (repository !== null && !scope.allows(repository)) return [];
      const found = await greens.newest(repository, limit);
      if (repository !== null || scope.repositories() === null) return found;
      const visible = await Promise.all(found.map(isVisible));
      return found.filter((_, at) => visible[at] === true);
    },
  });
}

/** A filter for lists. */
function within(scope: Scope): { readonly repositories?: readonly string[] } {
  const repositories = scope.repositories();
  return repositories === null ? {} : { repositories };
}

/** The same with other answers to some questions; what is not named stays as it is. */
function changed<Kind extends object>(original: Kind, changes: Partial<Kind>): Kind {
  return Object.assign(Object.create(original), changes);
}
