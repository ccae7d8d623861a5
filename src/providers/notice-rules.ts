import type { Build } from '../domain/build.ts';
import type { StatusContent } from '../notifications/render-status.ts';
import type { NoticeRule, NotificationClient } from '../ports/notices.ts';
import type { ProviderChannel } from './provider.ts';

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Where a provider's texts stand: their channel, and which builds are of repositories there. */
interface Place {
  readonly channel: string;
  readonly isOfOurs: (build: Build) => boolean;
}

/** One comment for each pull request; a failed build of it is reason to speak. */
export function commentRule({ channel, isOfOurs }: Place): NoticeRule {
  return {
    channel,
    placeOf: (build) => {
      const { repository, pullRequest, status } = build;
      if (pullRequest === null || !isOfOurs(build)) return null;
      const about = { type: 'pull-request', repository, pullRequest } as const;
      return { key: `${channel}:${repository}#${pullRequest}`, about, opens: status === 'failed' };
    },
  };
}

/** One commit status for each commit of which a build has failed. */
export function statusRule({ channel, isOfOurs }: Place): NoticeRule {
  return {
    channel,
    placeOf: (build) => {
      const { repository, commit, status } = build;
      if (!isOfCommit(build) || commit === null || !isOfOurs(build)) return null;
      return { key: `${channel}:${repository}@${commit}`, about: { type: 'commit', repository, commit }, opens: status === 'failed' };
    },
  };
}

/** One text for each failed build. */
export function buildRule({ channel, isOfOurs }: Place): NoticeRule {
  return {
    channel,
    placeOf: (build) => {
      if (!isOfOurs(build)) return null;
      return { key: `${channel}:${build.id}`, about: { type: 'build', buildId: build.id }, opens: build.status === 'failed' };
    },
  };
}

/** Whether the whole id of its commit is known. */
export function isOfCommit({ commit }: Build): boolean {
  return commit !== null && COMMIT.test(commit);
}

/** A host whose pull requests get a comment, and whose commits a status, where it is requested. */
export interface HostNotices {
  readonly name: Build['provider'];
  readonly comment: boolean;
  readonly status: boolean;
  /** Why nothing can be written with what is configured; null: it can. */
  readonly because: string | null;
  readonly isOfOurs: (build: Build) => boolean;
  readonly commentClient: () => Promise<NotificationClient<{ readonly body: string }>>;
  readonly statusClient: () => Promise<NotificationClient<StatusContent>>;
}

export function hostChannels(host: HostNotices): ProviderChannel[] {
  const { name, because, isOfOurs, commentClient, statusClient } = host;
  const channel = (rule: NoticeRule, open: NonNullable<ProviderChannel['open']>): ProviderChannel =>
    because === null ? { rule, open } : { rule, open: null, because };
  const comment = commentRule({ channel: `${name}-comment`, isOfOurs });
  const status = statusRule({ channel: `${name}-status`, isOfOurs });
  return [
    ...(host.comment
      ? [
          channel(comment, async ({ publicUrl }) =>
            (await import('./notice-channels.ts')).commentChannel(comment, await commentClient(), publicUrl),
          ),
        ]
      : []),
    ...(host.status
      ? [
          channel(status, async ({ publicUrl }) =>
            (await import('./notice-channels.ts')).statusChannel(status, await statusClient(), publicUrl),
          ),
        ]
      : []),
  ];
}

/** Whether a build is a host's own, or was uploaded from a job that ran there. `site`: the address of its pages, with a slash at the end. */
export function isOfHost(name: Build['provider'], site: string | null): (build: Build) => boolean {
  return ({ provider, url }) => provider === name || (provider === 'upload' && site !== null && url?.startsWith(site) === true);
}
