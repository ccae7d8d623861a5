import type { NoticeChannel, NoticeSender } from '../channels/channel.ts';
import type { Build } from '../domain/build.ts';
import { createNoticeLinks, type NoticeLinks } from '../notifications/notice-words.ts';
import type { CheckContent } from '../notifications/render-check.ts';
import type { StatusContent } from '../notifications/render-status.ts';
import type { NoticeRule, Situation } from '../ports/notices.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { Suggestions } from './suggestions.ts';

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The scope of a provider's notices: their channel, and the builds whose repositories the provider hosts. */
interface Place {
  readonly channel: string;
  readonly isOfOurs: (build: Build) => boolean;
}

/** The address of a comment on a pull request. */
export type CommentPage = (repository: string, pullRequest: number, id: string) => string;

/** Creates the rule for one comment per pull request. The first failed build opens the comment. */
export function createCommentRule({ channel, isOfOurs }: Place, page?: CommentPage): NoticeRule {
  const getPageAddress: NoticeRule['getPageAddress'] = ({ repository, pullRequest }, id) =>
    page === undefined || pullRequest === null ? null : page(repository, pullRequest, id);
  return {
    channel,
    ...(page !== undefined && { getPageAddress }),
    findPlace: (build) => {
      const { repository, pullRequest, status } = build;
      if (pullRequest === null || !isOfOurs(build)) return null;
      const about = { type: 'pull-request', repository, pullRequest } as const;
      return { key: `${channel}:${repository}#${pullRequest}`, about, opens: status === 'failed' };
    },
  };
}

/** Creates the rule for one commit status per commit with a failed build. */
function createStatusRule({ channel, isOfOurs }: Place): NoticeRule {
  return {
    channel,
    findPlace: (build) => {
      const { repository, commit, status } = build;
      if (!isOfCommit(build) || commit === null || !isOfOurs(build)) return null;
      return {
        key: `${channel}:${repository}@${commit}`,
        about: { type: 'commit', repository, commit },
        opens: status === 'failed',
      };
    },
  };
}

/** Creates the rule for one notice per failed build. */
export function buildRule({ channel, isOfOurs }: Place): NoticeRule {
  return {
    channel,
    findPlace: (build) => {
      if (!isOfOurs(build)) return null;
      return {
        key: `${channel}:${build.id}`,
        about: { type: 'build', buildId: build.id },
        opens: build.status === 'failed',
      };
    },
  };
}

/** Checks whether the full id of the build's commit is known. */
function isOfCommit({ commit }: Build): boolean {
  return commit !== null && COMMIT.test(commit);
}

/** One notice that is kept up to date on a host. */
interface HostNotice<Content> {
  /** True if the notice is configured. */
  readonly wanted: boolean;
  /** The reason why the notice cannot be written with the current configuration; null if it can. */
  readonly because: string | null;
  readonly client: (logger: Logger) => Promise<NoticeSender<Content>>;
}

/**
 * The notices on a host: comments on pull requests, suggestions in them, check runs of builds, and statuses
 * of commits.
 */
export interface HostNotices {
  readonly name: Build['provider'];
  readonly isOfOurs: (build: Build) => boolean;
  readonly commentPage: CommentPage;
  readonly comment: HostNotice<{ readonly body: string }>;
  /**
   * Writes suggested changes, which a job requests, in the place of comments. Absent if the host has no such
   * comments.
   */
  readonly suggestion?: HostNotice<Suggestions>['client'];
  readonly check?: HostNotice<CheckContent>;
  readonly status: HostNotice<StatusContent>;
}

export function createHostChannels({
  name,
  isOfOurs,
  commentPage,
  comment,
  suggestion,
  check,
  status,
}: HostNotices): NoticeChannel[] {
  const suggestions =
    suggestion === undefined || comment.because !== null ? undefined : { ...comment, client: suggestion };
  const isOfOurCommit = (build: Build) => isOfCommit(build) && isOfOurs(build);
  return [
    ...createChannelsFor(
      comment,
      createCommentRule({ channel: `${name}-comment`, isOfOurs }, commentPage),
      async () => (await import('../notifications/render-comment.ts')).renderComment,
    ),
    ...createChannelsFor(
      suggestions,
      createCommentRule({ channel: `${name}-suggestion`, isOfOurs }),
      async () => (await import('./suggestions.ts')).renderSuggestions,
    ),
    ...createChannelsFor(
      check,
      buildRule({ channel: `${name}-check`, isOfOurs: isOfOurCommit }),
      async () => (await import('../notifications/render-check.ts')).renderCheck,
    ),
    ...createChannelsFor(
      status,
      createStatusRule({ channel: `${name}-status`, isOfOurs }),
      async () => (await import('../notifications/render-status.ts')).renderStatus,
    ),
  ];
}

type Render<Content> = (situation: Situation, links: NoticeLinks) => Content | null;

function createChannelsFor<Content extends object>(
  notice: HostNotice<Content> | undefined,
  rule: NoticeRule,
  loadRender: () => Promise<Render<Content>>,
): NoticeChannel[] {
  if (notice?.wanted !== true) return [];
  const { because, client } = notice;
  if (because !== null) return [{ ...rule, open: null, because }];
  const open: NoticeChannel['open'] = async ({ logger, publicUrl }) => {
    const [render, links] = [await loadRender(), createNoticeLinks(publicUrl)];
    return { ...(await client(logger)), render: (situation) => render(situation, links) };
  };
  return [{ ...rule, open }];
}

/**
 * Creates a function that checks whether a build belongs to a host, or was uploaded from a job that ran
 * there. `site` is the address of the host's pages, with a slash at the end.
 */
export function isOfHost(name: Build['provider'], site: string | null): (build: Build) => boolean {
  return ({ provider, url }) =>
    provider === name || (provider === 'upload' && site !== null && url?.startsWith(site) === true);
}
