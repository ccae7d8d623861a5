import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { appError } from './app-errors.ts';
import { createGithubClient, type GithubAppKey, type GithubClientOptions } from './client.ts';
import { createInstallations, NEEDED } from './installations.ts';

export interface GithubAppFacts {
  readonly name: string;
  /** Where it can be installed; null where GitHub does not say. */
  readonly url: string | null;
  /** How often it is installed; null where GitHub does not say. */
  readonly installations: number | null;
  /** Rights that Faultline needs and the App does not ask for. */
  readonly lacking: readonly string[];
  /** Of the repositories asked about, those on which it is not installed. */
  readonly unseen: readonly string[];
  /** How far GitHub's clock is ahead of ours, in milliseconds; null where it does not say. */
  readonly aheadMs: number | null;
}

const AppReply = z.object({
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }).nullish(),
  permissions: z.record(z.string(), z.unknown()).default({}),
  installations_count: z.int().nullish(),
});

/** Asks GitHub who the App is and whether it is installed on these repositories. Throws what is wrong, and how to mend it. */
export async function checkGithubApp(
  options: GithubClientOptions,
  app: GithubAppKey,
  repositories: readonly string[],
  signal: AbortSignal,
): Promise<GithubAppFacts> {
  const { data, headers } = await askApp(options, app, signal);
  const reply = AppReply.safeParse(data);
  if (!reply.success) throw new TriageError('upstream-failed', 'The server there is not the GitHub API. Check FAULTLINE_GITHUB_URL.');
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

async function askApp(options: GithubClientOptions, app: GithubAppKey, signal: AbortSignal) {
  try {
    return await createGithubClient(options, { who: `app ${app.id}`, app }).request('GET /app', { request: { signal } });
  } catch (error) {
    throw appError('the GitHub App', error, app.id, signal);
  }
}
