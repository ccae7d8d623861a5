import type { Build, NewBuild, Provider, TestResult } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import type { TriageJob } from '../../domain/triage.ts';
import { TRIAGE } from '../../domain/work.ts';
import type { Clock } from '../../lib/time.ts';
import type { Masker } from '../../log/mask/mask.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { BuildSource } from '../../ports/build-source.ts';
import type { Database, Sql } from '../../ports/database.ts';
import type { Logger, Metrics, Tracer } from '../../ports/telemetry.ts';
import type { ProvidersConfig } from '../../providers/registry.ts';
import type { Stores } from '../../stores/stores.ts';
import type { WorkNotifier } from '../../work/notifier.ts';
import type { DeliveryInbox } from './delivery-inbox.ts';
import { type DeliveryProcessor, type StoredBuild, storeBuild } from './delivery-processor.ts';
import type { UploadReaders } from './upload.ts';

/** One message of a sender, with the sender's id for it. */
export interface Delivery {
  readonly source: Provider;
  readonly deliveryId: string;
  readonly event: string;
  readonly bodySha256: string;
}

export interface Recorded {
  readonly build: Build;
  /** The triage job of the build; null if there is none (it passed). */
  readonly job: TriageJob | null;
}

export interface RecordOptions {
  readonly testResults?: readonly TestResult[];
}

/**
 * Stores an upload and its build, and requests its triage, in one transaction; then wakes a worker. When this
 * returns, the build survives any crash. A repeated delivery changes nothing. Throws `conflict` if its body
 * differs.
 */
export async function recordBuild(
  deps: IntakeDeps,
  delivery: Delivery,
  build: NewBuild,
  options: RecordOptions = {},
): Promise<Recorded> {
  const before = await findRecorded(deps, delivery);
  if (before !== null) return before;
  const stored = await deps.database.transaction((sql) => store(deps, delivery, { build, ...options }, sql));
  // A concurrent copy of the same delivery was faster, so its result is returned.
  if (stored === null) return (await findRecorded(deps, delivery)) ?? throwLost(delivery);
  deps.metrics?.count('faultline_deliveries_total', { source: delivery.source, outcome: 'kept' });
  const { news, ...recorded } = stored;
  if (news && recorded.job !== null) deps.notifier.notify(TRIAGE, recorded.build.id);
  const { source, deliveryId, event } = delivery;
  const fields = {
    source,
    deliveryId,
    event,
    buildId: recorded.build.id,
    news,
  };
  deps.logger.info(fields, 'build received');
  return recorded;
}

/**
 * Returns the result of an earlier copy of this delivery, or null. Throws `conflict` if the id was used for
 * another body.
 */
export async function findRecorded(deps: IntakeDeps, delivery: Delivery): Promise<Recorded | null> {
  const kept = await deps.stores.deliveries.find(delivery.source, delivery.deliveryId);
  if (kept === null || kept.buildId === null) return null;
  if (kept.bodySha256 !== delivery.bodySha256) throw createUsedBeforeError(delivery.deliveryId, kept.buildId);
  const build = await deps.stores.builds.find(kept.buildId);
  if (build === null) return null;
  const job = await deps.stores.triages.findByBuild(build.id);
  deps.metrics?.count('faultline_deliveries_total', { source: delivery.source, outcome: 'repeated' });
  deps.logger.info(
    { source: delivery.source, deliveryId: delivery.deliveryId, buildId: build.id },
    'duplicate delivery',
  );
  return { build, job };
}

/** Creates the error for an id that was used for another body. */
export function createUsedBeforeError(deliveryId: string, buildId: string | null): TriageError {
  return new TriageError(
    'conflict',
    `The delivery ID ${deliveryId} was already used for different content. Send new content with a new ID.`,
    buildId === null ? {} : { details: { buildId } },
  );
}

async function store(
  deps: IntakeDeps,
  delivery: Delivery,
  upload: RecordOptions & { readonly build: NewBuild },
  sql: Sql,
): Promise<StoredBuild | null> {
  const { deliveries } = deps.stores;
  if ((await deliveries.find(delivery.source, delivery.deliveryId, sql)) !== null) return null;
  return await storeBuild(deps, upload, sql, (build) =>
    deliveries.insertOnce({ ...delivery, buildId: build.id }, sql),
  );
}

function throwLost(delivery: Delivery): never {
  throw new TriageError(
    'storage-failed',
    `The delivery ${delivery.deliveryId} was stored by another request that did not finish. Send it again.`,
    {
      retryable: true,
      retryAfterMs: 1000,
    },
  );
}

/** The parts of the configuration that the routes need, under their names in it. */
export interface IntakeSettings {
  readonly http: {
    readonly publicUrl: string | null;
    /** The maximum size of one request body as transferred. */
    readonly maxBodyBytes: number;
    /** The maximum total size of all decompressed logs and reports of one upload. */
    readonly maxLogBytes: number;
  };
  readonly providers: ProvidersConfig;
}

/** The dependencies that the caller provides. */
export interface IntakeParts {
  readonly settings: IntakeSettings;
  readonly stores: Pick<
    Stores,
    'deliveries' | 'builds' | 'triages' | 'passingBuilds' | 'work' | 'notices' | 'health' | 'pictures'
  >;
  readonly database: Pick<Database, 'transaction'>;
  readonly archive: Pick<BuildArchive, 'put' | 'list' | 'remove'>;
  readonly notifier: WorkNotifier;
  readonly masker: Masker;
  /** The threads that decode uploads. If absent, they are decoded in the main thread. */
  readonly uploadReaders?: UploadReaders;
  /** The CI systems that complete the builds of incomplete events. */
  readonly buildSources?: Readonly<Partial<Record<Build['provider'], BuildSource>>>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics?: Metrics;
  readonly tracer?: Tracer;
}

/** The dependencies of the routes. */
export interface IntakeDeps extends IntakeParts {
  readonly inbox: DeliveryInbox;
  readonly processor: DeliveryProcessor;
}
