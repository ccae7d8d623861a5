import type { Masker } from '../log/mask/mask.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { Clock } from '../ports/clock.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/logger.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Stores } from '../ports/stores.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { Bell } from './bell.ts';
import type { Landing } from './landing.ts';
import type { Decode } from './prepare-sources.ts';
import type { Relay } from './relay.ts';

/** The slices of the configuration that the doors need, by the names they have there. */
export interface IntakeSettings {
  readonly http: {
    readonly publicUrl: string | null;
    /** Of one request, as it comes over the wire. */
    readonly maxBodyBytes: number;
    /** Of all logs and reports of one upload together, once decompressed. */
    readonly maxLogBytes: number;
  };
  readonly webhooks: { readonly githubSecrets: readonly string[]; readonly jenkinsSecrets: readonly string[] };
}

/** What whoever opens the doors gives. */
export interface IntakeParts {
  readonly settings: IntakeSettings;
  readonly stores: Pick<Stores, 'deliveries' | 'builds' | 'triages' | 'greens' | 'notices'>;
  readonly database: Pick<Database, 'transaction'>;
  readonly archive: Pick<BuildArchive, 'put' | 'list' | 'remove'>;
  readonly jobQueue: Pick<JobQueue, 'enqueue'>;
  readonly masker: Masker;
  /** Where uploads are decoded; absent: at once. */
  readonly decode?: Decode;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer;
}

/** What the doors are built from. */
export interface IntakeDeps extends IntakeParts {
  readonly bell: Bell;
  readonly landing: Landing;
  readonly relay: Relay;
}
