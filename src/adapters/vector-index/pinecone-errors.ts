import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';

/** The data plane answers with a status of gRPC, the control plane with an error object. */
const ErrorReply = z.union([
  z.looseObject({ message: z.string() }),
  z.looseObject({ error: z.looseObject({ message: z.string() }) }).transform(({ error }) => error),
]);
/** What the monthly limits of a plan are refused with; they too come as HTTP 429. */
const USED_UP = /for the current month|upgrade your plan|quota/i;
const MAX_WORDS = 300;

/** What a status other than 2xx means. */
export function refusal({ status, headers }: Response, text: string): TriageError {
  const words = wordsOf(text);
  const details = { status };
  if (status === 401 || status === 403) {
    const message = `Pinecone rejected the key (HTTP ${status}); check PINECONE_API_KEY and its permissions`;
    return new TriageError('upstream-auth', message, { details });
  }
  if (status === 402 || (status === 429 && USED_UP.test(words))) {
    return new TriageError('quota-exhausted', `The quota of the Pinecone plan is used up (HTTP ${status}): ${words}`, { details });
  }
  const later = retryAfter(headers);
  const retry = { retryable: true, details, ...(later === null ? {} : { retryAfterMs: later }) };
  if (status === 429) return new TriageError('rate-limited', 'Pinecone is rate limiting requests (HTTP 429)', retry);
  if (status === 408 || status >= 500) return new TriageError('upstream-failed', `Pinecone failed (HTTP ${status})`, retry);
  if (status === 404) return new TriageError('not-found', `Pinecone cannot find the requested resource (HTTP 404): ${words}`, { details });
  return new TriageError('invalid-input', `Pinecone refused the request (HTTP ${status}): ${words}`, { details });
}

function wordsOf(text: string): string {
  const read = ErrorReply.safeParse(parsed(text));
  return (read.success ? read.data.message : text).replace(/\s+/g, ' ').slice(0, MAX_WORDS);
}

function retryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (value === '') return null;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
