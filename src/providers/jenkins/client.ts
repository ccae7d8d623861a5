import type { Build } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { createBasicAuth } from '../check.ts';
import { readBody } from '../rest-client.ts';

/** The address of Jenkins, and the user who calls its API. */
export interface JenkinsAccess {
  /**
   * The address of the only Jenkins to which the token is sent. Builds of another one are neither fetched nor
   * described; no builds are if it is null.
   */
  readonly baseUrl: string | null;
  readonly user: string | null;
  /** An API token of that user. It needs no crumb. */
  readonly token: string | null;
}

interface JenkinsQuestion {
  /** The subject, shown to people: "the console". */
  readonly what: string;
  /** The permission that the user needs, shown to people. */
  readonly right: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The permission to read builds, shown to people. */
export const READ_JOB = 'permission to read the job';

export async function readJenkins(
  access: JenkinsAccess,
  url: URL,
  { what, right, maxBytes, signal }: JenkinsQuestion,
): Promise<Buffer> {
  const response = await callJenkins(access, url, what, { signal });
  if (response.ok) return await readBody('Jenkins', what, response.body, maxBytes);
  await response.body?.cancel();
  throw createJenkinsRefusal(what, response.status, right);
}

/**
 * Sends one request as that user. Redirects are not followed, because they may lead to a sign-in page or
 * another host.
 */
export async function callJenkins(
  { user, token }: JenkinsAccess,
  url: URL,
  what: string,
  init: Pick<RequestInit, 'method' | 'body' | 'signal'>,
): Promise<Response> {
  const headers = user === null || token === null ? {} : { authorization: createBasicAuth(user, token) };
  return await fetch(url, { ...init, headers, redirect: 'manual' }).catch((cause: unknown) => {
    // Without its words: they may hold the address.
    throw new TriageError('upstream-failed', `Jenkins could not be reached for ${what}.`, {
      retryable: true,
      cause,
    });
  });
}

export function createJenkinsRefusal(what: string, status: number, right: string): TriageError {
  if (status === 401 || status === 403 || (status >= 300 && status < 400)) {
    const outcome = status < 400 ? 'redirects to a sign-in page' : `answered ${status}`;
    const needs = `FAULTLINE_JENKINS_USER and FAULTLINE_JENKINS_TOKEN need ${right}.`;
    return new TriageError('upstream-auth', `Jenkins ${outcome} for ${what}. ${needs}`);
  }
  if (status === 404 || status === 410)
    return new TriageError(
      'not-found',
      `Jenkins returned ${status} for ${what}: the build may have been deleted.`,
    );
  return new TriageError('upstream-failed', `Jenkins returned ${status} for ${what}.`, {
    retryable: status >= 500 || status === 429,
  });
}

/**
 * Returns the build's page if it is below the address of the configured Jenkins, because the senders of
 * events must not choose the host that we call. Ends with a slash.
 * Throws `invalid-config` without a Jenkins, `not-found` without an address, `forbidden` for any other host
 * or path.
 */
export function checkJenkinsAddress(
  baseUrl: string | null,
  build: Pick<Build, 'url' | 'externalId' | 'number' | 'pipeline'>,
): URL {
  if (baseUrl === null)
    throw new TriageError(
      'invalid-config',
      'Cannot fetch the logs of Jenkins builds: FAULTLINE_JENKINS_URL is not set.',
    );
  const given = build.url ?? build.externalId;
  if (given === null || !URL.canParse(given)) {
    throw new TriageError(
      'not-found',
      `Build ${build.number} of ${build.pipeline} has no URL, so its page in Jenkins is unknown.`,
    );
  }
  const base = toFolder(baseUrl);
  const address = toFolder(given);
  // The parser has resolved "..", so a path below the base stays below it; an encoded slash or dot could be
  // read otherwise.
  const isBelow =
    address.origin === base.origin &&
    address.pathname.startsWith(base.pathname) &&
    !/%2f|%5c|%2e/i.test(address.pathname);
  if (!isBelow || address.username !== '' || address.password !== '') {
    throw new TriageError(
      'forbidden',
      `The build's address ${address.host}${address.pathname} is not ` +
        `under ${base.host}${base.pathname} (FAULTLINE_JENKINS_URL).`,
    );
  }
  return address;
}

function toFolder(address: string): URL {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}
