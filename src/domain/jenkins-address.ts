import type { Build } from './build.ts';
import { TriageError } from './errors.ts';

/** What the console of a build is called among its logs. */
export const JENKINS_CONSOLE = 'console.log';

/**
 * The build's page, if it lies below the configured Jenkins: whoever may send us events must not choose whom we call. Ends with a slash.
 * Throws `invalid-config` without a Jenkins, `not-found` without an address, `forbidden` elsewhere.
 */
export function jenkinsAddress(baseUrl: string | null, build: Pick<Build, 'url' | 'externalId' | 'number' | 'pipeline'>): URL {
  if (baseUrl === null)
    throw new TriageError('invalid-config', 'Cannot fetch the logs of Jenkins builds: FAULTLINE_JENKINS_URL is not set.');
  const given = build.url ?? build.externalId;
  if (given === null || !URL.canParse(given)) {
    throw new TriageError('not-found', `Build ${build.number} of ${build.pipeline} has no URL, so there is no log to fetch.`);
  }
  const base = folder(baseUrl);
  const address = folder(given);
  // The parser has resolved "..", so a path below the base stays below it; an encoded slash or dot could be read otherwise.
  const isBelow = address.origin === base.origin && address.pathname.startsWith(base.pathname) && !/%2f|%5c|%2e/i.test(address.pathname);
  if (!isBelow || address.username !== '' || address.password !== '') {
    throw new TriageError(
      'forbidden',
      `The build's address ${address.host}${address.pathname} is not under ${base.host}${base.pathname} (FAULTLINE_JENKINS_URL).`,
    );
  }
  return address;
}

function folder(address: string): URL {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}
