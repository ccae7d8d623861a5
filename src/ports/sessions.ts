import type { Preferences } from '../domain/preferences.ts';
import type { Principal } from '../domain/review.ts';

/** Whose session it is: of whoever holds the token with this digest, or of somebody who signed in elsewhere. */
export type SessionHolder = { readonly tokenDigest: string } | { readonly principal: Principal };

/** Sessions of the console. Life is judged by the database's clock. */
export interface SessionStore {
  /** Begins a session that lives for `lifeMs`; `digest` is the SHA-256 of its cookie, in hex. Sessions that are over are forgotten with it. */
  begin(digest: string, holder: SessionHolder, lifeMs: number): Promise<void>;
  /** Null where there is none or it is over. */
  find(digest: string): Promise<SessionHolder | null>;
  end(digest: string): Promise<void>;
}

/** What people set for the pages, by the holder's name. */
export interface PreferenceStore {
  /** The defaults where nothing was set. */
  of(holder: string): Promise<Preferences>;
  set(holder: string, preferences: Preferences): Promise<void>;
}
