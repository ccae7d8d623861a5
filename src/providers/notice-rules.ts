import type { Build } from '../domain/build.ts';
import type { NoticeRule } from '../ports/notices.ts';

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
