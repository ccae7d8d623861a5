import { TriageError } from '../../../domain/errors.ts';
import type { BlameLine } from '../../../ports/code-host.ts';
import { lineRange } from '../git-arguments.ts';
import { MAX_LINES } from '../limits.ts';
import { type GithubApi, orNull } from './api.ts';
import type { Objects } from './objects.ts';
import type { GithubPlace } from './places.ts';
import { Blame } from './replies.ts';

const QUERY = `query($owner: String!, $repo: String!, $commit: GitObjectID!, $path: String!) {
  repository(owner: $owner, name: $repo) {
    object(oid: $commit) {
      ... on Commit {
        blame(path: $path) {
          ranges { startingLine endingLine commit { oid authoredDate messageHeadline author { name } } }
        }
      }
    }
  }
}`;

/** Who last changed each line. Only GraphQL tells, and it answers nobody without a token or an App: `forbidden` says so. */
export async function readBlame(
  { api, objects }: { api: GithubApi; objects: Objects },
  place: GithubPlace,
  query: { path: string; lineStart: number; lineEnd: number },
  signal: AbortSignal,
): Promise<BlameLine[]> {
  const { first, last } = lineRange(query.lineStart, query.lineEnd, MAX_LINES);
  const file = await objects.readFile(place, { path: query.path, lineStart: first, lineEnd: last }, signal);
  if (file === null || file.lines.length === 0) return [];
  if (!(await api.isSigned(place, signal))) {
    throw new TriageError('forbidden', 'GitHub shows who changed a line only with a token or an App: set FAULTLINE_GITHUB_TOKEN.');
  }
  const { owner, repo, commit } = place;
  const parameters = { owner, repo, commit, path: file.path };
  const reply = await orNull(api.graphql(place, Blame, QUERY, { parameters, what: `who changed ${file.path}`, signal }));
  const ranges = reply?.repository?.object?.blame?.ranges ?? [];
  return file.lines.flatMap((text, index): BlameLine[] => {
    const line = first + index;
    const range = ranges.find(({ startingLine, endingLine }) => startingLine <= line && line <= endingLine);
    if (range === undefined) return [];
    const { oid, author, authoredDate, messageHeadline } = range.commit;
    const at = new Date(authoredDate).toISOString();
    return [{ line, commit: oid, author: author?.name ?? '', at, subject: messageHeadline, text: text.slice(0, 1_000) }];
  });
}
