import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { NoticeChannel, NoticeRule } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import { jenkinsChannel } from '../publish/jenkins/jenkins-channel.ts';
import { jenkinsRule } from '../publish/jenkins/jenkins-description.ts';
import type { BackgroundWorker } from '../publish/keep-turns.ts';
import { noticeChannel } from '../publish/notices/notice-channel.ts';
import { noticeLinks } from '../publish/notices/notice-links.ts';
import { GITHUB_CHECK, GITHUB_COMMENT, GITHUB_STATUS } from '../publish/notices/notice-rules.ts';
import { renderCheck } from '../publish/notices/render-check.ts';
import { renderComment } from '../publish/notices/render-comment.ts';
import { renderStatus } from '../publish/notices/render-status.ts';
import { syncNotifications } from '../publish/notices/sync-notifications.ts';
import { openSlackChannels, slackRulesOf } from './open-slack.ts';

/** A look for what is due: "looking" is to be read within five seconds of the webhook, whichever process took it in. */
const LOOK_MS = 1_000;

type NoticesConfig = Pick<Config, 'publishers' | 'http' | 'buildSource' | 'slack'>;

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
export function noticeRulesOf(config: Pick<Config, 'publishers' | 'buildSource' | 'slack'>): NoticeRule[] {
  const { comment, check, status } = githubOf(config);
  const github = [...(comment ? [GITHUB_COMMENT] : []), ...(check ? [GITHUB_CHECK] : []), ...(status ? [GITHUB_STATUS] : [])];
  return [...github, ...slackRulesOf(config), ...(describesJenkins(config) ? [jenkinsRule] : [])];
}

/** Nothing is opened, and nothing ever asked, where no channel is configured. */
export async function openNotices(config: NoticesConfig, parts: NoticesParts): Promise<Notices> {
  const elsewhere = [...(await openSlackChannels(config, parts)), ...(await openJenkinsChannels(config))];
  const channels = [...(await openGithubChannels(config, parts.logger)), ...elsewhere];
  if (config.publishers.github.check && !githubOf(config).check) {
    parts.logger.warn({}, 'FAULTLINE_GITHUB_CHECK is left out: only GitHub Apps may write checks, and none is configured');
  }
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

/** How the tokens of GitHub Apps and of Actions begin. */
const INSTALLATION_TOKEN = 'ghs_';

function githubOf({ publishers, buildSource }: Pick<Config, 'publishers' | 'buildSource'>) {
  const { app, token } = buildSource.github;
  const { comment, check, status, commentMode } = publishers.github;
  const isApp = app !== null || token?.startsWith(INSTALLATION_TOKEN) === true;
  const isSomebody = isApp || token !== null;
  return { comment: comment && isSomebody, check: check && isApp, status: status && isSomebody, commentMode };
}

async function openGithubChannels(config: NoticesConfig, logger: Logger): Promise<NoticeChannel[]> {
  const { comment, check, status, commentMode: mode } = githubOf(config);
  const links = noticeLinks(config.http.publicUrl);
  const options = { ...config.buildSource.github, logger };
  const channels: NoticeChannel[] = [];
  if (comment) {
    const { createGithubCommentClient: createGithubCommentDoor } = await import('../adapters/publisher/github-comment.ts');
    const door = createGithubCommentDoor({ ...options, mode });
    channels.push(noticeChannel({ rule: GITHUB_COMMENT, render: (situation) => renderComment(situation, links), door }));
  }
  if (check) {
    const door = (await import('../adapters/publisher/github-check.ts')).createGithubCheckClient(options);
    channels.push(noticeChannel({ rule: GITHUB_CHECK, render: (situation) => renderCheck(situation, links), door }));
  }
  if (status) {
    const door = (await import('../adapters/publisher/github-status.ts')).createGithubStatusClient(options);
    channels.push(noticeChannel({ rule: GITHUB_STATUS, render: (situation) => renderStatus(situation, links), door }));
  }
  return channels;
}

function describesJenkins({ publishers, buildSource }: Pick<Config, 'publishers' | 'buildSource'>): boolean {
  return publishers.jenkins.description !== 'off' && buildSource.jenkins.baseUrl !== null;
}

async function openJenkinsChannels(config: NoticesConfig): Promise<NoticeChannel[]> {
  const { description: format } = config.publishers.jenkins;
  if (format === 'off' || !describesJenkins(config)) return [];
  const door = (await import('../adapters/publisher/jenkins.ts')).createJenkinsClient(config.buildSource.jenkins);
  return [jenkinsChannel(door, { publicUrl: config.http.publicUrl, format })];
}
