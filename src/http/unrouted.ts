import type { FastifyInstance } from 'fastify';
import { TriageError } from '../domain/errors.ts';
import { pathOf } from './request-log.ts';

/** A path as routes write it, such as `/api/builds/:id`, and the methods it is registered for. */
interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/**
 * Answers what no route takes, before its body is read. A known path answers `wrong-method` (405) with the methods that it takes in `Allow`,
 * and OPTIONS with just these (204); any other path answers `not-found`. Neither needs a token: `/openapi.json` lists the addresses anyway.
 */
export function answerUnrouted(app: FastifyInstance): void {
  const paths = new Map<string, KnownPath>();
  app.addHook('onRoute', ({ url, method }) => {
    const known = paths.get(url) ?? { pattern: patternOf(url), methods: new Set(['OPTIONS']) };
    paths.set(url, known);
    for (const one of [method].flat()) known.methods.add(one);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const { method } = request;
    const path = pathOf(request);
    const known = paths.get(path) ?? [...paths.values()].find(({ pattern }) => pattern.test(path));
    const methods = [...(known?.methods ?? [])].sort();
    if (methods.length > 0) reply.header('allow', methods.join(', '));
    if (methods.length > 0 && method === 'OPTIONS') return await reply.code(204).send();
    if (methods.length === 0) {
      throw new TriageError('not-found', `There is no ${method} ${path}. See /docs for all endpoints.`);
    }
    throw new TriageError('wrong-method', `${path} does not support ${method}. Use ${methods.join(', ')}; see /docs.`);
  });
}

function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]*';
    return segment === '*' ? '.*' : segment.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${segments.join('/')}$`);
}
