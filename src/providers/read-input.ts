import { createHash, hash as hashOnce } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'secure-json-parse';
import { z } from 'zod';
import { createTypedText, getErrorMessage, TriageError } from '../domain/errors.ts';
import { toStorable } from '../lib/text.ts';
import { maskLine } from '../log/mask/shapes.ts';

/**
 * Parses external JSON. Throws `invalid-input` for invalid JSON and for keys that would change a prototype.
 * `what` names it for people.
 */
export function parseJson(what: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new TriageError(
      'invalid-input',
      `${what} is not valid JSON: ${getErrorMessage(error)}. Send one JSON object in UTF-8.`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Creates the schema of a short external text that will be stored and shown: at most `max` characters,
 * secrets masked, NUL and lone surrogates (which
 * PostgreSQL rejects) replaced by U+FFFD.
 */
export function createShortTextSchema(max = 1000) {
  return createTypedText(max).overwrite(toShown);
}

/** The schema is created once, because creating it takes longer than using it. */
const TEXT = createShortTextSchema();

/** Returns a short text in its stored form; null if it is absent, empty or too long. */
export function toTextOrNull(text: string | null | undefined): string | null {
  return TEXT.safeParse(text).data ?? null;
}

/** Returns a text of one line in the form in which it may be stored and shown. */
export function toShown(text: string): string {
  return maskLine(toStorable(text));
}

/**
 * Creates the schema of an external URL that is shown as a link. Only http and https are allowed, so that
 * opening it runs nothing, and credentials are removed.
 */
export function createWebUrlSchema() {
  return z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .max(2000)
    .overwrite((address) => toShown(withoutUser(address)));
}

function withoutUser(address: string): string {
  const url = URL.parse(address);
  if (url === null || (url.username === '' && url.password === '')) return address;
  url.username = '';
  url.password = '';
  return url.href;
}

/** Decodes a part of a path; returns it unchanged if its encoding is invalid. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Creates the schema of a pull request's number. The column is an integer of four bytes. */
export function pullRequestNumber() {
  return z.int().positive().max(2_147_483_647);
}

/**
 * Creates the schema of the number of a build's attempt. The column is an integer of four bytes, and the
 * limit is far above any real number of attempts.
 */
export function attemptNumber() {
  return z.int().min(1).max(10_000).default(1);
}

/**
 * Returns `owner/name` of a clone URL, `https://host/owner/name.git` or `git@host:owner/name.git`. Returns
 * null if there is none.
 */
export function findRepositoryOfClone(address: string | null | undefined): string | null {
  const path = /^(?:[a-z+]+:\/\/[^/]+\/|[^/@\s]+@[^/:\s]+:)(.+?)(?:\.git)?\/?$/.exec(address ?? '')?.[1];
  return path?.includes('/') === true ? path : null;
}

/**
 * Converts an external time to ISO 8601 in UTC. Null if it is absent, invalid, or outside the years 1 to
 * 9999.
 */
export function toUtc(time: string | number | null | undefined): string | null {
  if (time === null || time === undefined) return null;
  const date = new Date(time);
  const year = date.getUTCFullYear();
  // PostgreSQL has no year 0 and cannot read the signed years that JavaScript writes beyond 9999.
  return year >= 1 && year <= 9999 ? date.toISOString() : null;
}

/**
 * Returns the seconds between two external times. Returns null if either is absent, or the second is not
 * later.
 */
export function findSecondsBetween(
  from: string | null | undefined,
  until: string | null | undefined,
): number | null {
  const [start, end] = [toUtc(from), toUtc(until)];
  const seconds = start === null || end === null ? -1 : (Date.parse(end) - Date.parse(start)) / 1000;
  return seconds < 0 ? null : seconds;
}

/** The number of bytes that are hashed before other work gets a turn. */
const HASHED_AT_ONCE = 1 << 22;

/** Computes the SHA-256 of parts that may be large, without blocking the event loop. */
export async function hashInSteps(parts: Iterable<string | Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) {
    for (let at = 0; at < part.length; at += HASHED_AT_ONCE) {
      hash.update(
        typeof part === 'string'
          ? part.slice(at, at + HASHED_AT_ONCE)
          : part.subarray(at, at + HASHED_AT_ONCE),
      );
      if (part.length > HASHED_AT_ONCE) await nextTurn();
    }
  }
  return hash.digest('hex');
}

export function hashSha256(body: string | Uint8Array): string {
  return hashOnce('sha256', body);
}
