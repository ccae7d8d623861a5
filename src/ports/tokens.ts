import type { AccessToken } from '../domain/access-token.ts';
import type { Role } from '../domain/review.ts';
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
