import { z } from 'zod';
import type { RepositoryInfo } from '../../../ports/code-host.ts';
import type { GithubApi, Lister } from './api.ts';
import { InstallationRepositories, Repository } from './replies.ts';

const PAGE = 100;
const MAX_PAGES = 10;

/** The repositories that the App or the token may read, by name; none without either, as the public ones are without number. */
export async function listRepositories(api: GithubApi, limit: number, signal: AbortSignal): Promise<RepositoryInfo[]> {
  const found = new Map<string, RepositoryInfo>();
  for (const lister of await api.listers(signal)) {
    for (let page = 1; page <= MAX_PAGES && found.size < limit; page += 1) {
      const repositories = await askPage(lister, page, signal);
      for (const { full_name, default_branch, description } of repositories) {
        found.set(full_name, { repository: full_name, defaultBranch: default_branch ?? null, description: description ?? null });
      }
      if (repositories.length < PAGE) break;
    }
  }
  return [...found.values()].sort((left, right) => (left.repository < right.repository ? -1 : 1)).slice(0, limit);
}

async function askPage(lister: Lister, page: number, signal: AbortSignal) {
  const what = 'the repositories that may be read';
  if (lister.as === 'installation') {
    const parameters = { per_page: PAGE, page };
    return (await lister.get(InstallationRepositories, { route: 'GET /installation/repositories', parameters, what, signal })).repositories;
  }
  const parameters = { per_page: PAGE, page, sort: 'full_name', direction: 'asc' };
  return lister.get(z.array(Repository), { route: 'GET /user/repos', parameters, what, signal });
}
