import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Publisher } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import { type Logger, silentTracer, type Tracer } from '../ports/telemetry.ts';
import { type ActsDeps, type BackgroundWorker, startActs } from '../publish/outbox.ts';
import { openNotices } from './open-notices.ts';
import { tracedPublisher } from './watch-triage.ts';

/** A look at what is owed outside; what this process concludes is told at once. */
const LOOK_MS = 5_000;

/** Who is told, and the work of telling. */
export interface Publishing {
  /** What each sure answer is owed to. */
  readonly drivers: readonly string[];
  /** Something is owed now; nothing happens where this process does not tell. */
  readonly wake: () => void;
  start(): void;
  stop(): Promise<void>;
}

type Parts = Omit<ActsDeps, 'publishers' | 'timeLimitMs' | 'intervalMs'> & {
  readonly clock: Clock;
  readonly tracer?: Tracer;
  readonly stores: Pick<Stores, 'history' | 'notices' | 'triages'>;
};

export async function openPublishing(
  config: Pick<Config, 'publishers' | 'http' | 'providers' | 'slack'>,
  parts: Parts,
): Promise<Publishing> {
  const opened = await openPublishers(config, parts.logger, parts.clock);
  const publishers = opened.map((publisher) => tracedPublisher(publisher, parts.tracer ?? silentTracer, parts.stores.triages));
  const notices = await openNotices(config, parts);
  let worker: BackgroundWorker | undefined;
  return {
    drivers: publishers.map(({ driver }) => driver),
    wake: () => {
      worker?.wake();
      notices.wake();
    },
    start: () => {
      worker ??= startActs({ ...parts, publishers, timeLimitMs: config.publishers.timeoutMs, intervalMs: LOOK_MS });
      notices.start();
    },
    stop: async () => void (await Promise.all([worker?.stop(), notices.stop()])),
  };
}

async function openPublishers(
  { publishers, http }: Pick<Config, 'publishers' | 'http'>,
  logger: Logger,
  clock: Clock,
): Promise<Publisher[]> {
  const opened = [(await import('../adapters/publisher/log.ts')).createLogPublisher(logger)];
  const { url, ...webhook } = publishers.webhook;
  const { publicUrl } = http;
  if (url !== null)
    opened.push((await import('../adapters/publisher/webhook.ts')).createWebhookPublisher({ url, ...webhook, publicUrl, clock }));
  return opened;
}
