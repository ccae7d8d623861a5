import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scoped } from '../domain/access.ts';
import type { TriageError } from '../domain/errors.ts';
import type { Principal } from '../domain/review.ts';
import type { UnseenFigures } from '../domain/trust.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Messengers } from '../notifications/rules/news.ts';
import type { SignInProvider } from '../ports/access.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { KeptRuns } from '../ports/kept-runs.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { VectorNamespace } from '../ports/vector-index.ts';
import type { Ask } from '../service/ask/ask.ts';
import type { Changes } from '../service/changes.ts';
import type { Connectable } from '../service/connect.ts';
import type { ScopedStores, ShownArchive } from '../stores/stores.ts';

/** What an error comes to: its status, and words that are fit for whoever asked. It is logged by then. */
export interface Refused {
  readonly status: number;
  readonly error: TriageError;
  readonly message: string;
}

/** Sign-in, as the HTTP API does it. */
export interface SessionService {
  /** Whose session it is. Throws `unauthenticated` where there is none. */
  find(request: FastifyRequest): Promise<Principal>;
  /** Exchanges a token for a session. Throws `unauthenticated` as a wrong token does. */
  exchange(request: FastifyRequest, token: string): Promise<{ readonly principal: Principal; readonly cookie: string }>;
  begin(request: FastifyRequest, principal: Principal): Promise<string>;
  end(request: FastifyRequest): Promise<string>;
  /** A Set-Cookie header by which this browser brings a text back for ten minutes; empty: it is forgotten. */
  remember(request: FastifyRequest, text: string): string;
  /** What it brings back; null: nothing. */
  remembered(request: FastifyRequest): string | null;
}

/** What the pages are made of. */
export interface ConsoleDeps {
  readonly config: {
    readonly http: { readonly publicUrl: string | null };
    readonly review: { readonly claimMs: number; readonly blindEvery: number };
    /** What is answered without a person; absent: the usual. */
    readonly triage?: { readonly thresholds: { readonly autoNotify: number } };
  };
  readonly stores: ScopedStores;
  readonly database: Database;
  readonly archive: ShownArchive & Scoped;
  readonly jobQueue: JobQueue;
  readonly masker: Masker;
  readonly ask: Ask & Scoped;
  readonly changes: Changes & Scoped;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly providers: readonly Connectable[];
  readonly sessions: SessionService;
  /** Channels of notification rules. */
  readonly messengers: Messengers;
  readonly publicUrl: string | null;
  /** Who signs people in beside tokens. */
  readonly signIn?: SignInProvider | null;
  /** The node of the graph that works on a build now, where it is known. */
  readonly currentStep?: (buildId: string) => Promise<string | null>;
  /** What was measured of this release. */
  readonly unseen?: readonly UnseenFigures[];
  /** Replays that were kept to be compared. */
  readonly keptRuns: KeptRuns & Scoped;
  /** How long a decision is kept from being shown outside. */
  readonly undoMs?: number;
  indexNow?(namespace: VectorNamespace, ids: readonly string[]): Promise<boolean>;
  /** Counts a wrong token; how long to wait where there were too many, in milliseconds, else null. */
  countGuess(request: FastifyRequest): Promise<number | null>;
  /** Counts a stream that the asker opens; returns how to count it as over. Throws `rate-limited` where too many are open. */
  countStream(request: FastifyRequest): () => void;
  /** Logs an error and sets the headers that go with it. */
  refused(thrown: unknown, request: FastifyRequest, reply: FastifyReply): Refused;
}
