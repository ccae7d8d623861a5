import type { TriageErrorCode } from '../domain/errors.ts';
import type { JsonObject } from './name-schemas.ts';

interface DescribedError {
  /** The name of the response. */
  readonly name: string;
  readonly description: string;
  readonly code: TriageErrorCode;
  readonly message: string;
  /** Returns true if an operation can answer with it. */
  readonly occurs: (operation: DescribedOperation) => boolean;
}

/** The facts about an operation that decide with which errors it can answer. */
interface DescribedOperation {
  readonly path: string;
  readonly hasBody: boolean;
  readonly hasParameters: boolean;
  readonly isProtected: boolean;
  readonly hasRole: boolean;
}

/** The errors of all routes, by their status, the more specific ones first. */
const ERRORS: Readonly<Record<string, DescribedError>> = {
  400: {
    name: 'InvalidInput',
    description: 'The request is invalid; `issues` names each field.',
    code: 'invalid-input',
    message: 'The query is invalid at "limit": must be at most 100.',
    occurs: ({ hasBody, hasParameters }) => hasBody || hasParameters,
  },
  401: {
    name: 'Unauthenticated',
    description: 'No token, a token that is not valid, or a signature that does not match.',
    code: 'unauthenticated',
    message: 'No token was sent. Send the header "Authorization: Bearer TOKEN".',
    occurs: ({ isProtected }) => isProtected,
  },
  403: {
    name: 'Forbidden',
    description: 'The token does not have the role that the operation needs.',
    code: 'forbidden',
    message: 'This needs a token with the role "review".',
    occurs: ({ hasRole }) => hasRole,
  },
  404: {
    name: 'NotFound',
    description: 'There is no such thing, or it is not in a repository that the token may see.',
    code: 'not-found',
    message: 'There is no analysis ana_1.',
    occurs: ({ path }) => path.includes('{'),
  },
  413: {
    name: 'TooLarge',
    description: 'The body is larger than the service accepts.',
    code: 'too-large',
    message: 'The body is larger than 200 MB.',
    occurs: ({ hasBody }) => hasBody,
  },
  415: {
    name: 'UnsupportedType',
    description: 'The body is of another media type than the operation reads.',
    code: 'unsupported-type',
    message: 'The body must be application/json.',
    occurs: ({ hasBody }) => hasBody,
  },
  429: {
    name: 'RateLimited',
    description: 'Too many requests. `Retry-After` says when to try again, in seconds.',
    code: 'rate-limited',
    message: 'Too many requests. Try again in a minute.',
    occurs: () => true,
  },
  503: {
    name: 'Unavailable',
    description:
      'The database is away, or the service lacks a setting. `Retry-After` says when to try again.',
    code: 'storage-failed',
    message: 'The database request failed. See the server log.',
    occurs: () => true,
  },
  '4XX': {
    name: 'Rejected',
    description: 'Rejected: what is wrong, where, and how to fix it.',
    code: 'conflict',
    message: 'Another delivery with this ID has other content.',
    occurs: () => true,
  },
  '5XX': {
    name: 'Failed',
    description: 'The service could not answer. The server log has the reason, by the request ID.',
    code: 'internal',
    message: 'Something went wrong. See the server log.',
    occurs: () => true,
  },
};

/** Creates the components for the errors of all routes, each with an example. */
export function createErrorResponses(): JsonObject {
  return Object.fromEntries(
    Object.values(ERRORS).map(({ name, description, code, message }) => {
      const example = { error: { code, message, requestId: '0b5c8f0e-6a2d-4f43-9b8e-0d7c9e2a4f11' } };
      const schema = { $ref: '#/components/schemas/Error' };
      return [name, { description, content: { 'application/json': { schema, example } } }];
    }),
  );
}

/** Adds to an operation the errors with which it can answer. Those that it describes itself stay. */
export function addErrors(path: string, operation: JsonObject): void {
  const { responses, security } = operation;
  if (responses === null || typeof responses !== 'object' || Array.isArray(responses)) return;
  const schemes = Array.isArray(security) ? security : [];
  const described: DescribedOperation = {
    path,
    hasBody: operation.requestBody !== undefined,
    hasParameters: operation.parameters !== undefined,
    isProtected: schemes.length > 0,
    hasRole: JSON.stringify(schemes).includes('"bearer"'),
  };
  for (const [status, { name, occurs }] of Object.entries(ERRORS))
    if (occurs(described)) responses[status] ??= { $ref: `#/components/responses/${name}` };
}
