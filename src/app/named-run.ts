import type { Config } from '../config/schema.ts';
import type { NewBuild } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { FetchedBuild } from '../ports/build-source.ts';
import type { Logger } from '../ports/telemetry.ts';
import { getPathBelow, type NamedRun, type NamedRuns } from '../providers/named-runs.ts';
import type { Provider } from '../providers/provider.ts';
import { findRepositoryOfClone } from '../providers/read-input.ts';
import { createProviders } from '../providers/registry.ts';

/** A failed run, with the logs and reports of its failed jobs. */
export interface FetchedRun {
  readonly build: NewBuild;
  readonly fetched: FetchedBuild;
}

interface FetchOptions {
  /** Returns the URL of the clone's remote, for a run that is named by its id. Null if there is none. */
  readonly remote: () => Promise<string | null>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

type ReadableProvider = Provider & { readonly runs: NamedRuns };

interface Found {
  readonly provider: ReadableProvider;
  readonly run: NamedRun;
}

/**
 * Fetches a failed run from the CI that ran it, as the service does. `requested` is the address of its page,
 * its id in the repository of the clone, or the path of a Jenkins build (`job/NAME/NUMBER`). A token is sent
 * only to the address that is configured for it. Throws `invalid-input` if that names no run, `conflict` if
 * the run has not failed, and the errors of `BuildSource.fetch`.
 */
export async function fetchNamedRun(
  config: Config,
  requested: string,
  { remote, logger, signal }: FetchOptions,
): Promise<FetchedRun> {
  const providers = createProviders(config.providers).filter(
    (provider): provider is ReadableProvider => provider.runs !== null,
  );
  const { provider, run } = await findRun(providers, requested, remote);
  const { timeoutMs } = config.buildSource;
  const content = await provider.runs.load(run, { logger, timeoutMs }, signal);
  if ('ignored' in content) throw createNothingToTriageError(requested, content.ignored);
  if (content.build.status !== 'failed') throw createNothingToTriageError(requested, 'it passed');
  const source = await provider.openBuildSource({ logger, timeoutMs, maxLogBytes: config.http.maxLogBytes });
  const build = (await source.complete?.(content.build, signal)) ?? content.build;
  const stored = { ...build, id: 'local', receivedAt: new Date().toISOString() };
  return { build, fetched: await source.fetch(stored, signal) };
}

async function findRun(
  providers: readonly ReadableProvider[],
  requested: string,
  remote: FetchOptions['remote'],
): Promise<Found> {
  if (/^https?:/i.test(requested) && URL.canParse(requested))
    return findByAddress(providers, new URL(requested));
  const jenkins = providers.find(({ name }) => name === 'jenkins');
  const build = jenkins?.runs.read(requested) ?? null;
  if (jenkins !== undefined && build !== null) return { provider: jenkins, run: build };
  if (/^\d{1,15}$/.test(requested)) return findByRemote(providers, requested, await remote());
  throw new TriageError(
    'invalid-input',
    `${requested.slice(0, 200)} names no run. Give the address of its page (${listForms(providers)}), ` +
      'its id with --repo, or job/NAME/NUMBER of Jenkins.',
  );
}

function findByAddress(providers: readonly ReadableProvider[], address: URL): Found {
  let isKnown = false;
  for (const provider of providers) {
    const path = provider.runs.site === null ? null : getPathBelow(provider.runs.site, address);
    if (path === null) continue;
    isKnown = true;
    const run = provider.runs.read(path, address.searchParams);
    if (run !== null) return { provider, run };
  }
  const where = `${address.host}${address.pathname}`.slice(0, 300);
  throw new TriageError(
    isKnown ? 'invalid-input' : 'invalid-config',
    isKnown
      ? `${where} is not the page of a run. Such pages are ${listForms(providers)}.`
      : `No CI is configured at ${address.host}. Set FAULTLINE_GITHUB_URL, FAULTLINE_GITEA_URL, ` +
          'FAULTLINE_GITLAB_URL, FAULTLINE_JENKINS_URL, FAULTLINE_CIRCLECI_URL or FAULTLINE_AZURE_URL ' +
          'to its address.',
  );
}

function findByRemote(providers: readonly ReadableProvider[], id: string, remote: string | null): Found {
  const repository = findRepositoryOfClone(remote);
  const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^:/]+)/.exec(remote ?? '')?.[1];
  if (repository === null || host === undefined)
    throw new TriageError(
      'invalid-config',
      `Run ${id} of which repository? Add --repo with a clone that has a remote, or give the run's address.`,
    );
  for (const provider of providers) {
    const { site, buildPath, read } = provider.runs;
    if (site === null || new URL(site).hostname !== host) continue;
    const run = read(buildPath(repository, id));
    if (run !== null) return { provider, run };
  }
  throw new TriageError('invalid-config', `No CI is configured at ${host}, the remote of the clone.`);
}

function createNothingToTriageError(requested: string, why: string): TriageError {
  return new TriageError('conflict', `There is nothing to triage in ${requested.slice(0, 300)}: ${why}.`);
}

function listForms(providers: readonly ReadableProvider[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(
    providers.filter(({ runs }) => runs.site !== null).map(({ runs }) => runs.form),
  );
}
