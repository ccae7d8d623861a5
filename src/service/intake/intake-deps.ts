import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { Database } from '../../ports/database.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger, Metrics, Tracer } from '../../ports/telemetry.ts';
import type { ProvidersConfig } from '../../providers/settings.ts';
import type { Stores } from '../../stores/stores.ts';
import type { DeliveryInbox } from './delivery-inbox.ts';
import type { DeliveryProcessor } from './delivery-processor.ts';
import type { JobNotifier } from './job-notifier.ts';
import type { Decode } from './prepare-sources.ts';

/** The slices of the configuration that the routes need, by the names they have there. */
export interface IntakeSettings {
  readonly http: {
    readonly publicUrl: string | null;
    /** Of one request, as it comes over the wire. */
    readonly maxBodyBytes: number;
    /** Of all logs and reports of one upload together, once decompressed. */
    readonly maxLogBytes: number;
  };
  readonly providers: ProvidersConfig;
}

/** What the caller of the routes gives. */
export interface IntakeParts {
  readonly settings: IntakeSettings;
  readonly stores: Pick<Stores, 'deliveries' | 'builds' | 'triages' | 'passingBuilds' | 'outbox' | 'notices'>;
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

/** What the routes are built from. */
export interface IntakeDeps extends IntakeParts {
  readonly jobNotifier: JobNotifier;
  readonly inbox: DeliveryInbox;
  readonly processor: DeliveryProcessor;
}
