import { z } from 'zod';
import type { RepositoryInfo } from '../../../ports/code-host.ts';
import type { GithubApi } from './api.ts';
import { InstallationRepositories, Repository } from './replies.ts';

const PAGE = 100;
const MAX_PAGES = 10;
/** How the tokens of GitHub Apps and of Actions begin. */
const INSTALLATION_TOKEN = 'ghs_';

/** The repositories that the token may read, by name; none without a token, as the public ones are without number. */
export async function listRepositories(api: GithubApi, limit: number, signal: AbortSignal): Promise<RepositoryInfo[]> {
  if (api.token === null) return [];
  const found: RepositoryInfo[] = [];
  for (let page = 1; page <= MAX_PAGES && found.length < limit; page += 1) {
    const repositories = await askPage(api, page, signal);
    for (const { full_name, default_branch, description } of repositories) {
      found.push({ repository: full_name, defaultBranch: default_branch ?? null, description: description ?? null });
    }
    if (repositories.length < PAGE) break;
  }
  return found.sort((left, right) => (left.repository < right.repository ? -1 : 1)).slice(0, limit);
}

async function askPage(api: GithubApi, page: number, signal: AbortSignal) {
  const what = 'the repositories of the token';
  if (api.token?.startsWith(INSTALLATION_TOKEN) === true) {
    const parameters = { per_page: PAGE, page };
    return (await api.get(InstallationRepositories, { route: 'GET /installation/repositories', parameters, what, signal })).repositories;
  }
  const parameters = { per_page: PAGE, page, sort: 'full_name', direction: 'asc' };
  return api.get(z.array(Repository), { route: 'GET /user/repos', parameters, what, signal });
}
