import { TriageError } from '../domain/errors.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WebhookContent } from './webhook.ts';

/** A run as its address names it. */
export interface NamedRun {
  readonly repository: string;
  readonly id: string;
  /** The attempt that the address names; null for the newest one. */
  readonly attempt: number | null;
}

/** The runs that a person can name by the address of their page. */
export interface NamedRuns {
  /** The address of the site, to which the configured API belongs; null if it is not configured. */
  readonly site: string | null;
  /** The form of an address, shown to people: `https://github.com/OWNER/NAME/actions/runs/ID`. */
  readonly form: string;
  /** Reads the path of an address below the site, and its query. Null if it names no run. */
  read(path: string, query?: URLSearchParams): NamedRun | null;
  /** Returns the path of the page of a run, below the site. */
  buildPath(repository: string, id: string): string;
  /**
   * Returns the content that the event of the run would have. Throws as `BuildSource.fetch` does, and
   * `invalid-config` if a setting is missing.
   */
  load(
    run: NamedRun,
    options: { readonly logger: Logger; readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<WebhookContent>;
}

/** Returns the path of an address below a site, without the slash at its start. Null if it is elsewhere. */
export function getPathBelow(site: string, address: URL): string | null {
  const base = new URL(site.endsWith('/') ? site : `${site}/`);
  const isBelow = address.origin === base.origin && address.pathname.startsWith(base.pathname);
  return isBelow ? address.pathname.slice(base.pathname.length) : null;
}

/**
 * Reads `OWNER/NAME/actions/runs/ID`, with an attempt or a job behind it, as GitHub and Gitea have it. Names
 * of dots are refused: they would lead to another part of the API.
 */
export function readActionsPath(path: string): NamedRun | null {
  const [, repository, id, attempt] =
    /^([\w.-]+\/[\w.-]+)\/actions\/runs\/(\d{1,15})(?:\/attempts\/(\d{1,4}))?(?:\/jobs?\/\d+)?\/?$/.exec(
      path,
    ) ?? [];
  if (repository === undefined || id === undefined || /(?:^|\/)\.{1,2}(?:\/|$)/.test(repository)) return null;
  return { repository, id, attempt: attempt === undefined ? null : Number(attempt) };
}

/** Creates the error for a run that is not on the CI, or that the token cannot see. */
export function createNoRunError(what: string, label: string, cause?: unknown): TriageError {
  return new TriageError('not-found', `${what} is not on ${label}, or the token may not read it.`, { cause });
}
