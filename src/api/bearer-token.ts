import { TriageError } from '../domain/errors.ts';

export function readToken(authorization: string | undefined): string {
  const token = /^Bearer ([\x21-\x7e]{1,1000})$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new TriageError(
    'unauthenticated',
    'A token is required. Send the header "Authorization: Bearer <token>".',
  );
}

export function createRefusedError(what: string): TriageError {
  return new TriageError('unauthenticated', `The token ${what}.`);
}
