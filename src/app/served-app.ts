import type { Messengers } from '../channels/channel.ts';
import type { SlackButtons } from '../channels/slack.ts';
import type { Config } from '../config/schema.ts';
import type { Build } from '../domain/build.ts';
import type { UnseenFigures } from '../domain/trust.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { BuildSource } from '../ports/build-source.ts';
import type { Database } from '../ports/database.ts';
import type { Readiness } from '../ports/health.ts';
import type { KnowledgeService } from '../ports/knowledge.ts';
import type { Logger, Metrics, Tracer } from '../ports/telemetry.ts';
import type { VectorIndex } from '../ports/vector-index.ts';
import type { Ask } from '../service/ask/ask.ts';
import type { RepositoryAsk } from '../service/ask/ask-repository.ts';
import type { UploadReaders } from '../service/intake/upload.ts';
import type { Stores } from '../stores/stores.ts';
import type { WorkNotifier } from '../work/notifier.ts';
import type { openIndexSynchronization } from './index-synchronization.ts';
import type { openRetention } from './open-retention.ts';
import type { openLogExplainer } from './terminal-app.ts';

type IndexSync = ReturnType<typeof openIndexSynchronization>['sync'];

/** All parts of a served installation. They are created only in `src/app.ts`. */
export interface App extends IndexSync {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly database: Database;
  readonly stores: Stores;
  readonly archive: BuildArchive;
  /** Wakes workers for triages that were requested. */
  readonly notifier: WorkNotifier;
  readonly vectorIndex: VectorIndex;
  /** The documents of the team. */
  readonly knowledge: KnowledgeService;
  readonly masker: Masker;
  /** The CI systems, by provider. */
  readonly buildSources: Readonly<Partial<Record<Build['provider'], BuildSource>>>;
  /** The threads that decode uploads and read their reports without blocking other requests. */
  readonly uploadReaders: UploadReaders;
  /** The service for follow-up questions about stored analyses. */
  readonly ask: Ask;
  /** The service for questions about repositories without a failure. */
  readonly repositoryAsk: RepositoryAsk;
  /** Explains a pasted log with rules. Nothing is stored. */
  readonly explainLog: ReturnType<typeof openLogExplainer>;
  /** Starts to process pending work. */
  work(): Promise<void>;
  /** Starts no more triages, and lets running ones end within the time limit. */
  stopTriage(options: { readonly drainMs: number }): Promise<void>;
  /** The figures measured for this release. */
  readonly unseen: readonly UnseenFigures[];
  /** The identity provider that signs users in to the pages, in addition to tokens; null if there is none. */
  readonly signIn: SignInProvider | null;
  /** The dependencies of Slack buttons; undefined if they are not configured. */
  readonly slack: SlackButtons | undefined;
  /** The channels of notification rules. */
  readonly messengers: Messengers;
  /** The client that deletes a repository on demand and data that is too old. */
  readonly retention: ReturnType<typeof openRetention>['client'];
  /** Updates the knowledge base from its folder. */
  loadKnowledge(): Promise<{
    readonly changed: number;
    readonly unchanged: number;
    readonly removed: number;
  }>;
  /**
   * Returns the node that finished last in the running triage of a build, or null if none runs in this
   * process.
   */
  currentStep(buildId: string): Promise<string | null>;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /**
   * Returns the status of each backend; `ok` if everything that is needed to accept builds works. Never
   * throws, and is cheap to call often.
   */
  readiness(): Promise<Readiness>;
  /** Starts no more work, lets running triages end within the time limit, and closes every store. */
  close(options?: { readonly drainMs: number }): Promise<void>;
}
