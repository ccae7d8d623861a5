import type { AccessToken, Preferences } from '../domain/access.ts';
import type { Principal, Role } from '../domain/review.ts';
import type { Sql } from './database.ts';

/** A token that is to be kept; `digest` is all that is stored of the token itself. */
export interface TokenToKeep {
  readonly name: string;
  readonly digest: string;
  readonly roles: readonly Role[];
  readonly repositories: readonly string[] | null;
  readonly createdBy: string;
  readonly expiresInDays: number | null;
}

/** Bearer tokens. Whether one is still good is judged by the database's clock. */
export interface TokenStore {
  /** Keeps a token. Throws `conflict` where a token that is not revoked has this name. */
  keep(token: TokenToKeep, sql?: Sql): Promise<AccessToken>;
  /** The token with this digest and whether it is still valid; null where nobody made it. */
  findByDigest(digest: string): Promise<{ readonly token: AccessToken; readonly state: 'valid' | 'expired' | 'revoked' } | null>;
  /** Newest first, revoked and expired ones too; 200 at most. */
  list(): Promise<AccessToken[]>;
  /** Ends the token of this id, or of this name; null where no token that is not revoked has it. */
  revoke(idOrName: string, by: string): Promise<AccessToken | null>;
  /** Keeps that it was used now; written at most once a minute. */
  touch(id: string): Promise<void>;
  /** What the tokens that are good now, and not for everything, may see; each choice once. */
  scopes(): Promise<readonly (readonly string[])[]>;
  /** How many tokens with the role `admin` are still valid. */
  countAdmins(): Promise<number>;
}

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

/** Somebody else's sign-in, which says who is there. */
export interface SignInProvider {
  /** For people: "id.example.com". */
  readonly name: string;
  /**
   * Where to send the browser, and what it must bring back: `secrets` are for the same browser's eyes only. Throws `upstream-failed`.
   */
  begin(callback: string, signal: AbortSignal): Promise<{ readonly address: string; readonly secrets: string }>;
  /**
   * Who came back to `callback`. Throws `unauthenticated` where the answer is not one to these secrets, `forbidden` where whoever it is may
   * do nothing here, and `upstream-failed`.
   */
  finish(callback: string, query: string, secrets: string, signal: AbortSignal): Promise<Principal>;
}
