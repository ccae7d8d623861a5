import type { Config } from '../config/schema.ts';
import type { UnseenFigures } from '../domain/trust.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Messengers } from '../notifications/rules/news.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { SlackButtons } from '../ports/chat-room.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { KeptRuns } from '../ports/kept-runs.ts';
import type { KnowledgeService } from '../ports/knowledge.ts';
import type { Logger, Metrics, Tracer } from '../ports/telemetry.ts';
import type { VectorIndex } from '../ports/vector-index.ts';
import type { Ask } from '../service/ask/ask.ts';
import type { UploadReaders } from '../service/intake/upload.ts';
import type { Stores } from '../stores/stores.ts';
import type { openIndexKeeping } from './index-keeping.ts';
import type { openRetention } from './open-retention.ts';
import type { Readiness } from './readiness.ts';
import type { openLogExplainer } from './terminal-app.ts';

type IndexSync = ReturnType<typeof openIndexKeeping>['sync'];

/** Everything a served installation is made of. Composed in `src/app.ts` and nowhere else. */
export interface App extends IndexSync {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly database: Database;
  readonly stores: Stores;
  readonly archive: BuildArchive;
  readonly jobQueue: JobQueue;
  readonly vectorIndex: VectorIndex;
  /** Documents of the team itself. */
  readonly knowledge: KnowledgeService;
  readonly masker: Masker;
  /** Where uploads are decoded and their reports read without holding anybody up. */
  readonly uploadReaders: UploadReaders;
  /** Follow-up questions about stored analyses. */
  readonly ask: Ask;
  /** What rules say of a pasted log; nothing of it is kept. */
  readonly explainLog: ReturnType<typeof openLogExplainer>;
  /** Replays that were kept to be compared. */
  readonly keptRuns: KeptRuns;
  /** Starts taking triage jobs, and ringing again for those that are pending. */
  work(): Promise<void>;
  /** What was measured of this release. */
  readonly unseen: readonly UnseenFigures[];
  /** Who signs people in to the pages beside tokens; null: nobody. */
  readonly signIn: SignInProvider | null;
  /** What buttons in Slack need; absent where they are not configured. */
  readonly slack: SlackButtons | undefined;
  /** Channels of notification rules. */
  readonly messengers: Messengers;
  /** What deletes: a repository on demand, and what is too old. */
  readonly retention: ReturnType<typeof openRetention>['client'];
  /** Brings the knowledge base up to date with its folder. */
  loadKnowledge(): Promise<{ readonly changed: number; readonly unchanged: number; readonly removed: number }>;
  /** The node that finished last in the triage of a build now running here; null where none runs. */
  currentStep(buildId: string): Promise<string | null>;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** What each backend says of itself; `ok` where all that is needed to accept builds works. Never throws, and is cheap to ask often. */
  readiness(): Promise<Readiness>;
  /** Stops taking jobs, lets running ones end within the limit, closes every store. */
  close(options?: { readonly drainMs: number }): Promise<void>;
}
