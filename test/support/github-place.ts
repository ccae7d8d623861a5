import type { IncomingMessage } from 'node:http';

/** The location of the API: on a host of its own, or below `/api` of an Enterprise server. */
export type GithubPlace = 'github.com' | 'enterprise';

/**
 * Changes the path of a request to the path that it would have on github.com. Returns false if its path does
 * not belong to the API.
 */
export function takePrefix(place: GithubPlace, request: IncomingMessage): boolean {
  const path = request.url ?? '';
  if (place === 'github.com') return !path.startsWith('/api/');
  if (path === '/api/graphql') request.url = '/graphql';
  else if (path.startsWith('/api/v3/') && path !== '/api/v3/graphql')
    request.url = path.slice('/api/v3'.length);
  else return false;
  return true;
}
