import { z } from 'zod';
import { asked, type GithubVoice } from './github-calls.ts';

const PER_PAGE = 100;
/** GitHub itself lists 3,000 files at most; a change of more than a thousand is looked through by nobody. */
const MAX_PAGES = 10;

const Files = z.array(z.object({ filename: z.string() }));

/** The files that a pull request changes, at most a thousand. */
export async function listChangedFiles({ client, place }: GithubVoice, pullRequest: number, signal: AbortSignal): Promise<Set<string>> {
  const names = new Set<string>();
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data } = await asked({ what: `the files of pull request ${pullRequest}`, right: 'Pull requests' }, () =>
      client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', {
        ...{ ...place, pull_number: pullRequest, per_page: PER_PAGE, page },
        request: { signal },
      }),
    );
    const files = Files.parse(data);
    for (const { filename } of files) names.add(filename);
    if (files.length < PER_PAGE) break;
  }
  return names;
}
