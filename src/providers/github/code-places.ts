import { TriageError } from '../../domain/errors.ts';
import { plainRef } from '../code-questions.ts';
import { createMemory } from '../memory.ts';
import { type GithubApi, orNull, Repository } from './code-api.ts';

/** A repository as GitHub calls it today: a renamed one by its new name. */
export interface KnownRepository {
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string | null;
}

/** What one question needs: the repository and the commit, already checked. */
export interface GithubPlace extends KnownRepository {
  readonly commit: string;
}

export interface Places {
  repository(name: string, signal: AbortSignal): Promise<KnownRepository | null>;
  /** Null where the repository or the commit is missing, or the repository is empty. */
  find(query: { repository: string; ref: string | null }, signal: AbortSignal): Promise<GithubPlace | null>;
}

const NAME = /^([A-Za-z0-9][A-Za-z0-9_-]{0,99})\/([A-Za-z0-9._-]{1,100})$/;
const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** A repository is seldom renamed; a branch moves with every push. */
const REPOSITORY_MS = 10 * 60_000;
const BRANCH_MS = 60_000;

export function createPlaces(api: GithubApi): Places {
  const repositories = createMemory<KnownRepository | null>(1_000);
  const commits = createMemory<string | null>(10_000);
  async function repository(name: string, signal: AbortSignal): Promise<KnownRepository | null> {
    const [, owner, repo] = NAME.exec(name) ?? [];
    if (owner === undefined || repo === undefined || /^\.+$/.test(repo)) return null;
    return repositories.recall(name, { signal, lifeMs: livesFor(REPOSITORY_MS), ask: () => askRepository(api, { owner, repo }, signal) });
  }
  return {
    repository,
    async find(query, signal) {
      const ref = query.ref === null ? null : plainRef(query.ref);
      // What is kept in memory would answer without ever looking at the signal.
      if (signal.aborted) throw new TriageError('cancelled', 'Reading GitHub was canceled.', { cause: signal.reason });
      const known = await repository(query.repository, signal);
      const name = ref ?? known?.defaultBranch ?? null;
      if (known === null || name === null) return null;
      const key = `${known.owner}/${known.repo} ${name}`;
      const lifeMs = livesFor(FULL_ID.test(name) ? REPOSITORY_MS : BRANCH_MS);
      const commit = await commits.recall(key, { signal, lifeMs, ask: () => askCommit(api, known, name, signal) });
      return commit === null ? null : { ...known, commit };
    },
  };
}

/** What is missing may be pushed in the next minute. */
function livesFor(ms: number): (value: unknown) => number {
  return (value) => (value === null ? BRANCH_MS : ms);
}

async function askRepository(api: GithubApi, place: { owner: string; repo: string }, signal: AbortSignal): Promise<KnownRepository | null> {
  const name = `${place.owner}/${place.repo}`;
  const reply = await orNull(
    api.get(place, Repository, { route: 'GET /repos/{owner}/{repo}', parameters: place, what: `the repository ${name}`, signal }),
  );
  if (reply === null) return null;
  const [, owner = place.owner, repo = place.repo] = NAME.exec(reply.full_name) ?? [];
  return { owner, repo, defaultBranch: reply.default_branch ?? null };
}

async function askCommit(api: GithubApi, { owner, repo }: KnownRepository, ref: string, signal: AbortSignal): Promise<string | null> {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}';
  const reply = await orNull(
    api.text({ owner, repo }, 'sha', { route, parameters: { owner, repo, ref }, what: `the commit ${ref}`, signal }),
  );
  if (reply === null) return null;
  const commit = reply.trim();
  if (FULL_ID.test(commit)) return commit;
  throw new TriageError('upstream-failed', `GitHub's response for the commit ${ref} is not a commit ID.`);
}
