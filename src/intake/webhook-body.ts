import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TriageError } from '../domain/errors.ts';

/** GitHub sends no more. Whoever may not sign can still make us hold this much, so it is not the limit of uploads. */
const MAX_WEBHOOK_BYTES = 25 * 1024 * 1024;

/** In this scope a body of these types stays as the bytes that were signed; nothing is parsed before its signature was checked. */
export function keepRawBodies(scope: FastifyInstance, types: readonly string[] = ['application/json']): void {
  const bodyLimit = Math.min(scope.initialConfig.bodyLimit ?? MAX_WEBHOOK_BYTES, MAX_WEBHOOK_BYTES);
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser([...types], { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
}

/** The body as it came. */
export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** A header that stands once, or undefined. */
export function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** A header that must be there. Throws `invalid-input`. */
export function requiredHeader(request: FastifyRequest, name: string, shownAs: string): string {
  const value = headerOf(request, name);
  if (value === undefined || value === '' || value.length > 200) {
    throw new TriageError('invalid-input', `The header ${shownAs} is missing or longer than 200 characters.`);
  }
  return value;
}
