import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Messengers } from '../channels/channel.ts';
import type { Scoped } from '../domain/access.ts';
import type { Analysis } from '../domain/analysis.ts';
import type { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { UnseenFigures } from '../domain/trust.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { Database } from '../ports/database.ts';
import type { Readiness } from '../ports/health.ts';
import type { KeptRuns } from '../ports/kept-runs.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorNamespace } from '../ports/vector-index.ts';
import type { Ask } from '../service/ask/ask.ts';
import type { RepositoryAsk } from '../service/ask/ask-repository.ts';
import type { Changes } from '../service/changes.ts';
import type { Connectable } from '../service/connect.ts';
import type { ScopedStores, ShownArchive } from '../stores/stores.ts';
import type { WorkNotifier } from '../work/notifier.ts';

/**
 * The response to an error: its status, and a message that is safe to show to the requester. It has already
 * been logged.
 */
export interface Refused {
  readonly status: number;
  readonly error: TriageError;
  readonly message: string;
}

/** The session service of the HTTP API. */
export interface SessionService {
  /** Returns the owner of the session. Throws `unauthenticated` if there is no session. */
  find(request: FastifyRequest): Promise<Principal>;
  /** Exchanges a token for a session. Throws `unauthenticated` if the token is wrong. */
  exchange(
    request: FastifyRequest,
    token: string,
  ): Promise<{ readonly principal: Principal; readonly cookie: string }>;
  begin(request: FastifyRequest, principal: Principal): Promise<string>;
  end(request: FastifyRequest): Promise<string>;
  /**
   * Keeps what this browser begins at another host for ten minutes, on the server, and returns the
   * Set-Cookie header by which the browser gets it back.
   */
  keepPending(request: FastifyRequest, body: object): Promise<string>;
  /** Returns what this browser began at another host, or null. */
  findPending(request: FastifyRequest): Promise<unknown>;
  /** Returns it once: it is gone afterwards. */
  takePending(request: FastifyRequest): Promise<unknown>;
}

/** The dependencies of the pages. */
export interface ConsoleDeps {
  readonly config: {
    readonly http: { readonly publicUrl: string | null };
    readonly review: { readonly claimMs: number };
    /** The thresholds from which answers are published without a person. The default ones if absent. */
    readonly triage?: { readonly thresholds: { readonly autoNotify: number } };
  };
  readonly stores: ScopedStores;
  readonly database: Database;
  readonly archive: Scoped<ShownArchive>;
  readonly notifier: WorkNotifier;
  readonly masker: Masker;
  readonly ask: Scoped<Ask>;
  readonly repositoryAsk: Scoped<RepositoryAsk>;
  readonly changes: Scoped<Changes>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly providers: readonly Connectable[];
  readonly readiness: () => Promise<Readiness>;
  readonly sessions: SessionService;
  /** The open channels for the messages of notification rules. */
  readonly messengers: Messengers;
  readonly publicUrl: string | null;
  /**
   * Keeps settings that were just created, from the next start on. Absent if they are configured elsewhere;
   * they are then shown once.
   */
  readonly keepSettings?: (settings: Readonly<Record<string, string>>) => Promise<void>;
  /** The sign-in provider, in addition to tokens. */
  readonly signIn?: SignInProvider | null;
  /** Returns the node of the graph that is working on a build, if it is known. */
  readonly currentStep?: (buildId: string) => Promise<string | null>;
  /** The measured figures of this release. */
  readonly unseen?: readonly UnseenFigures[];
  /**
   * Explains a pasted log by rules, first cause first. If absent, the page for pasting logs is not available.
   */
  readonly explainLog?: (
    log: string,
    signal: AbortSignal,
  ) => Promise<readonly { readonly analysis: Analysis }[]>;
  /** Stored replays that can be compared. */
  readonly keptRuns: Scoped<KeptRuns>;
  /** The time in milliseconds during which a decision can be undone before it is published. */
  readonly undoMs?: number;
  indexNow?(namespace: VectorNamespace, ids: readonly string[]): Promise<boolean>;
  /**
   * Counts a wrong token. Returns the time to wait in milliseconds if there were too many. Returns null
   * otherwise.
   */
  countGuess(request: FastifyRequest, token?: string): Promise<number | null>;
  /**
   * Counts a new stream of this client. Returns a function that ends the count. Throws `rate-limited` if too
   * many are open.
   */
  countStream(request: FastifyRequest): () => void;
  /** Writes an error to the log and sets the headers of its response. */
  refused(thrown: unknown, request: FastifyRequest, reply: FastifyReply): Refused;
}
