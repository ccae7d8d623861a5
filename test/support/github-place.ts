import type { IncomingMessage } from 'node:http';

/** Where the API lies: on a host of its own, or below `/api` of an Enterprise server. */
export type GithubPlace = 'github.com' | 'enterprise';

/** Gives a request the path it would have on github.com. False where there is no API at its path. */
export function takePrefix(place: GithubPlace, request: IncomingMessage): boolean {
  const path = request.url ?? '';
  if (place === 'github.com') return !path.startsWith('/api/');
  if (path === '/api/graphql') request.url = '/graphql';
  else if (path.startsWith('/api/v3/') && path !== '/api/v3/graphql')
    request.url = path.slice('/api/v3'.length);
  else return false;
  return true;
}
