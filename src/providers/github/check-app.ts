import { TriageError } from '../../domain/errors.ts';
import type { GithubAppKey, GithubClientOptions } from './client.ts';
import { AppReply, askApp, createInstallations, NEEDED } from './installations.ts';

export interface GithubAppFacts {
  readonly name: string;
  /** The page on which the App can be installed; null if GitHub does not state it. */
  readonly url: string | null;
  /** The number of installations; null if GitHub does not state it. */
  readonly installations: number | null;
  /** Rights that Faultline needs and the App does not request. */
  readonly lacking: readonly string[];
  /** The requested repositories on which the App is not installed. */
  readonly unseen: readonly string[];
  /** Milliseconds by which GitHub's clock is ahead of ours; null if GitHub does not state the time. */
  readonly aheadMs: number | null;
}

/**
 * Asks GitHub for the App and checks whether it is installed on these repositories. Throws an error with the
 * problem and its fix.
 */
export async function checkGithubApp(
  options: GithubClientOptions,
  app: GithubAppKey,
  repositories: readonly string[],
  signal: AbortSignal,
): Promise<GithubAppFacts> {
  const { data, headers } = await askApp(options, app, signal);
  const reply = AppReply.safeParse(data);
  if (!reply.success)
    throw new TriageError(
      'upstream-failed',
      'The server there is not the GitHub API. Check FAULTLINE_GITHUB_URL.',
    );
  const { name, html_url: url, permissions, installations_count: installations } = reply.data;
  const installed = createInstallations(options, app);
  const found = await Promise.all(
    repositories.map(async (repository) => {
      const [owner = '', repo = ''] = repository.split('/');
      return { repository, grant: await installed.find({ owner, repo }, signal) };
    }),
  );
  const clock = Date.parse(headers.date ?? '');
  return {
    name,
    url: url ?? null,
    installations: installations ?? null,
    lacking: NEEDED.filter((right) => permissions[right] === undefined),
    unseen: found.flatMap(({ repository, grant }) => (grant === null ? [repository] : [])),
    aheadMs: Number.isNaN(clock) ? null : clock - Date.now(),
  };
}
