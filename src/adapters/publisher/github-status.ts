import { TriageError } from '../../domain/errors.ts';
import type { NotificationClient } from '../../ports/notices.ts';
import { asked, type GithubClientOptions, openGithubVoices, voiceFor } from './github-calls.ts';

export interface GithubStatusContent {
  readonly state: 'pending' | 'failure' | 'success';
  /** At most 140 characters. */
  readonly description: string;
  readonly targetUrl: string | null;
}

const CONTEXT = 'Faultline';

/** A commit status: the newest under one name is what counts, so that a second one harms nobody. */
export function createGithubStatusClient(options: GithubClientOptions): NotificationClient<GithubStatusContent> {
  const access = openGithubVoices(options);
  return {
    show: async ({ state, description, targetUrl }, { notice, signal }) => {
      const { about, repository } = notice;
      if (about.type !== 'commit') throw new TriageError('invalid-input', `The notice ${notice.key} has no commit.`);
      const { client, place } = await voiceFor(access, repository, signal);
      await asked({ what: `the status of ${repository}@${about.commit}`, right: 'Commit statuses' }, () =>
        client.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
          ...{ ...place, sha: about.commit, state, description, context: CONTEXT },
          ...(targetUrl === null ? {} : { target_url: targetUrl }),
          request: { signal },
        }),
      );
      return { reference: about.commit };
    },
  };
}
