import type { Build } from '../../domain/build.ts';
import type { NoticeRule } from '../../ports/notices.ts';

/** A repository as GitHub names it; a Jenkins job may be called anything. */
const GITHUB_NAME = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/;
const COMMIT = /^[0-9a-f]{40}$/;

/** One comment for each pull request; a failed build of it is reason to speak. */
export const GITHUB_COMMENT: NoticeRule = {
  channel: 'github-comment',
  placeOf: ({ repository, pullRequest, status }) =>
    pullRequest === null || !GITHUB_NAME.test(repository)
      ? null
      : {
          key: `github-comment:${repository}#${pullRequest}`,
          about: { type: 'pull-request', repository, pullRequest },
          opens: status === 'failed',
        },
};

/** One check run for each failed build. */
export const GITHUB_CHECK: NoticeRule = {
  channel: 'github-check',
  placeOf: (build) => {
    if (!isOfCommit(build)) return null;
    return { key: `github-check:${build.id}`, about: { type: 'build', buildId: build.id }, opens: build.status === 'failed' };
  },
};

/** One commit status for each commit of which a build has failed. */
export const GITHUB_STATUS: NoticeRule = {
  channel: 'github-status',
  placeOf: (build) => {
    if (!isOfCommit(build)) return null;
    const { repository, commit, status } = build;
    return { key: `github-status:${repository}@${commit}`, about: { type: 'commit', repository, commit }, opens: status === 'failed' };
  },
};

function isOfCommit(build: Build): build is Build & { readonly commit: string } {
  return build.commit !== null && COMMIT.test(build.commit) && GITHUB_NAME.test(build.repository);
}
