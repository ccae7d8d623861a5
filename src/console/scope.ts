import { z } from 'zod';
import { search } from './addresses.ts';
import { Words } from './http.ts';

/** The repository, branch and time that a reader is looking at. Addresses carry it from page to page. */
export interface PageScope {
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  /** The number of days to look back. */
  readonly days?: number | undefined;
}

/** The fields of the scope, for the query of a page. */
export const ScopeFields = {
  repo: Words,
  branch: Words,
  days: z.coerce.number().int().min(1).max(366).optional().catch(undefined),
};

/** Returns the address of another page in the same scope. */
export function formatScopedAddress(address: string, { repo, branch, days }: PageScope = {}): string {
  return `${address}${search({ repo, branch, days })}`;
}

const DAY_MS = 86_400_000;

/** Returns the beginning of the scope's days in ISO 8601, or undefined if the scope has no days. */
export function computeScopeStart(days: number | undefined, now: number): string | undefined {
  return days === undefined ? undefined : new Date(now - days * DAY_MS).toISOString();
}
