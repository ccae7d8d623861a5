import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from '@octokit/rest';
import { httpFailure } from './error.ts';
import type { Grant, Installations } from './installations.ts';

/** Of a call whose caller sets no limit, in milliseconds. */
const LIMIT_MS = 60_000;
/** GitHub may not yet know a token everywhere that it has just made: such a refusal is not believed at once. */
const NEW_MS = 5_000;
/** Units waited until such a token is tried again. */
const WAIT_UNITS = 2;

/** Signs every call with a token of the installation that does not end soon, made when it is needed. A token that was taken back is replaced once. */
export function signAsInstallation(
  client: Octokit,
  installations: Pick<Installations, 'token' | 'drop'>,
  grant: Grant,
  { retryUnitMs = 1000 }: { readonly retryUnitMs?: number },
): void {
  client.hook.wrap('request', async (request, options) => {
    const signal = options.request.signal ?? AbortSignal.timeout(LIMIT_MS);
    const sign = async () => {
      const made = await installations.token(grant, signal);
      // In place: hooks further in were given these very options.
      options.headers.authorization = `token ${made.token}`;
      return made;
    };
    const { madeAt } = await sign();
    try {
      return await request(options);
    } catch (error) {
      if (httpFailure(error)?.status !== 401) throw error;
      if (Date.now() - madeAt < NEW_MS) await sleep(WAIT_UNITS * retryUnitMs, undefined, { signal });
      else installations.drop(grant);
      await sign();
      return await request(options);
    }
  });
}
