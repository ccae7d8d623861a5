import { TriageError } from '../../domain/errors.ts';
import { createRestClient, type RestClient } from '../rest-client.ts';

export interface CircleciOptions {
  readonly baseUrl: string;
  readonly token: string | null;
}

export function createCircleciClient({ baseUrl, token }: CircleciOptions, timeoutMs: number): RestClient {
  const headers = { accept: 'application/json', ...(token === null ? {} : { 'circle-token': token }) };
  return createRestClient({ label: 'CircleCI', baseUrl, headers, tokenSetting: 'FAULTLINE_CIRCLECI_TOKEN', timeoutMs });
}

/** `gh/owner/name` as a part of a path. Throws `not-found` for what is no slug of a project. */
export function projectSlug(slug: string): string {
  const parts = slug.split('/');
  if (parts.length !== 3 || parts.some((part) => !/^[\w.-]{1,100}$/.test(part) || /^\.+$/.test(part)))
    throw new TriageError('not-found', `${slug.slice(0, 200)} is not a CircleCI project; use a slug such as gh/owner/name.`);
  return parts.map(encodeURIComponent).join('/');
}
