import type { BuildArchive } from './build-archive.ts';
import type { NoticeStore } from './notices.ts';
import type { AnalysisStore, BuildStore, FailureStore, GreenStore, HistoryStore, Stores, TriageStore } from './stores.ts';
import type { VectorDebtStore } from './vector-debts.ts';

/**
 * All that a route may ask of the stores. What is not named here is for workers and operators: a route that asks it does not compile, nor
 * does `scopeStores` while it does not say of each method here how it is held to repositories.
 */
export interface ShownStores extends Pick<Stores, 'reviews' | 'insights' | 'preferences'> {
  readonly deliveries: Pick<Stores['deliveries'], 'find'>;
  readonly builds: Pick<BuildStore, 'find' | 'list' | 'logsForgottenAt'>;
  readonly triages: Pick<TriageStore, 'findByBuild'>;
  readonly analyses: Pick<AnalysisStore, 'find' | 'listByBuild' | 'heads'>;
  readonly runSteps: Pick<Stores['runSteps'], 'after'>;
  readonly failures: Pick<FailureStore, 'listByBuild' | 'search'>;
  readonly history: Pick<HistoryStore, 'failureHistory' | 'similarFailures'>;
  readonly library: Pick<Stores['library'], 'insert' | 'find' | 'recall' | 'alone' | 'list' | 'ofDecision' | 'withdraw' | 'stay'>;
  readonly rules: Pick<Stores['rules'], 'add' | 'find' | 'list' | 'countActive' | 'withdraw'>;
  readonly questions: Pick<Stores['questions'], 'find' | 'list' | 'answer'>;
  readonly flakiness: Pick<Stores['flakiness'], 'list' | 'ofTest'>;
  readonly greens: Pick<GreenStore, 'newest'>;
  readonly notices: Pick<NoticeStore, 'changed'>;
  readonly vectorDebts: Pick<VectorDebtStore, 'owe'>;
}

/** All that a route may ask of the archive, which knows builds by their ids alone. */
export type ShownArchive = Pick<BuildArchive, 'list' | 'lines' | 'pieces'>;

export const SCOPED = Symbol('scoped');

/** The mark of what is held to the repositories that its asker may see; only src/http/scoped-stores.ts sets it. */
export interface Scoped {
  readonly [SCOPED]: true;
}

/** Stores as routes take them: they hold only what the asker may see, and everything else is as if it were not there. */
export type ScopedStores = { readonly [Name in keyof ShownStores]: ShownStores[Name] & Scoped };
