import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { NoticeChannel, NoticeRule } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import { providersOf } from '../providers/registry.ts';
import { syncNotifications } from '../publish/notices/sync-notifications.ts';
import type { BackgroundWorker } from '../publish/outbox.ts';
import { openSlackChannels, slackRulesOf } from './open-slack.ts';

/** A look for what is due: "looking" is to be read within five seconds of the webhook, whichever process took it in. */
const LOOK_MS = 1_000;

type NoticesConfig = Pick<Config, 'publishers' | 'http' | 'providers' | 'slack'>;

interface NoticesParts {
  readonly stores: Pick<Stores, 'notices' | 'history'>;
  readonly clock: Clock;
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  readonly failpoint?: Failpoint;
}

/** The work of keeping texts outside in step. */
export interface Notices {
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

/** Where the configured channels speak: what the stores must know, in every process. */
export function noticeRulesOf(config: Pick<Config, 'providers' | 'slack'>): NoticeRule[] {
  const rules = providersOf(config.providers).flatMap(({ channels }) => channels);
  return [...rules.flatMap(({ rule, open }) => (open === null ? [] : [rule])), ...slackRulesOf(config)];
}

/** Nothing is opened, and nothing ever asked, where no channel is configured. */
export async function openNotices(config: NoticesConfig, parts: NoticesParts): Promise<Notices> {
  const channels = [...(await openProviderChannels(config, parts.logger)), ...(await openSlackChannels(config, parts))];
  let worker: BackgroundWorker | undefined;
  return {
    wake: () => worker?.wake(),
    start: () => {
      if (channels.length === 0) return;
      const { timeoutMs, pauseMs } = config.publishers;
      const timing = { timeLimitMs: timeoutMs, pauseMs, intervalMs: LOOK_MS };
      worker ??= syncNotifications({ ...parts, notices: parts.stores.notices, channels, ...timing });
    },
    stop: async () => await worker?.stop(),
  };
}

async function openProviderChannels({ providers, http }: NoticesConfig, logger: Logger): Promise<NoticeChannel[]> {
  const opened: NoticeChannel[] = [];
  for (const { rule, open, because } of providersOf(providers).flatMap(({ channels }) => channels)) {
    if (open === null) logger.warn({ channel: rule.channel, because }, 'a channel is left out: it cannot be written');
    else opened.push(await open({ logger, publicUrl: http.publicUrl }));
  }
  return opened;
}
