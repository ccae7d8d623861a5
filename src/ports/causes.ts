import type { Cause, CauseChange, CauseEvent, CauseList } from '../domain/cause.ts';
import type { Page, Sql } from './database.ts';

export interface CauseFilter {
  readonly list: CauseList;
  /** Whose `mine` are. */
  readonly assignee: string;
  /** By which names CODEOWNERS and commits call them; what they own and nobody has is theirs too. */
  readonly owners?: readonly string[];
  readonly repository?: string;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** Which cause of which repository. */
export interface CauseKey {
  readonly repository: string;
  readonly fingerprint: string;
}

export interface CauseStore {
  /** What is red on a default branch first, then the newest. */
  list(filter: CauseFilter, page: Page): Promise<Cause[]>;
  counts(filter: Omit<CauseFilter, 'list'>): Promise<Record<CauseList, number>>;
  /** The cause in every repository, the newest first; at most 20. */
  ofFingerprint(fingerprint: string, filter?: Pick<CauseFilter, 'repositories'>): Promise<Cause[]>;
  /** Newest first. */
  events(key: CauseKey, limit: number): Promise<CauseEvent[]>;
  /** Changes it and notes who did; null where there is no such cause, or another version of it by now. `now` in milliseconds since 1970. */
  change(key: CauseKey & { readonly version: number }, change: CauseChange, by: string, now: number, sql?: Sql): Promise<Cause | null>;
}
