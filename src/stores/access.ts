import { z } from 'zod';
import { AccessToken, Preferences } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import { createId } from '../domain/ids.ts';
import { type Principal, Role } from '../domain/review.ts';
import type { Database, Sql } from '../ports/database.ts';
import { fromNow, listColumns, queryAll, queryFirst } from './sql.ts';

/** A token to store. Of the token itself, only `digest` is stored. */
export interface TokenToKeep {
  readonly name: string;
  readonly digest: string;
  readonly roles: readonly Role[];
  readonly repositories: readonly string[] | null;
  readonly createdBy: string;
  readonly expiresInDays: number | null;
}

/**
 * The holder of a session: the token with this digest, or a principal who signed in through an external
 * provider.
 */
export type SessionHolder = { readonly tokenDigest: string } | { readonly principal: Principal };

const Found = z.object({ state: z.enum(['valid', 'expired', 'revoked']) });

/** The store of bearer tokens. Their validity is judged by the database's clock. */
export type TokenStore = ReturnType<typeof createTokenStore>;

/** Creates the store of bearer tokens in the database, identified by their digests. */
export function createTokenStore(db: Database) {
  return {
    /** Stores a token. Throws `conflict` if a token that is not revoked has this name. */
    keep: async (
      { name, digest, roles, repositories, createdBy, expiresInDays }: TokenToKeep,
      sql: Sql = db,
    ) => {
      const [row] = await sql.query(KEEP_TOKENS, [
        createId('tok'),
        name,
        digest,
        [...roles],
        repositories,
        createdBy,
        expiresInDays,
      ]);
      if (row === undefined)
        throw new TriageError(
          'conflict',
          `A token named ${name} already exists. Revoke it first, or choose another name.`,
        );
      return AccessToken.parse(row);
    },
    /** Finds the token with this digest and whether it is still valid; null if there is no such token. */
    findByDigest: async (digest: string) => {
      const [row] = await db.query(FIND_TOKENS, [digest]);
      return row === undefined ? null : { token: AccessToken.parse(row), state: Found.parse(row).state };
    },
    /** Lists tokens, newest first, including revoked and expired ones; at most 200. */
    list: async () => await queryAll(db, AccessToken, LIST),
    /** Revokes the token with this id or name. Returns null if there is none that is not revoked. */
    revoke: async (idOrName: string, by: string) => await queryFirst(db, AccessToken, REVOKE, [idOrName, by]),
    /** Records that the token was used now; writes at most once a minute. */
    touch: async (id: string) => void (await db.query(TOUCH, [id])),
    /**
     * Lists the repositories that valid tokens are restricted to, each combination once. Leaves out tokens
     * for all repositories.
     */
    scopes: async () =>
      (await db.query<{ repositories: string[] }>(SCOPES)).map(({ repositories }) => repositories),
    /** Counts the tokens with the role `admin` that are still valid. */
    countAdmins: async () => {
      const [row] = await db.query<{ count: number }>(COUNT_ADMINS);
      return row?.count ?? 0;
    },
  };
}

const TOKEN = listColumns(AccessToken, 't');

const KEEP_TOKENS = `
  insert into access_tokens as t (id, name, digest, roles, repositories, created_by, expires_at)
  values ($1, $2, $3, $4::text[], $5::text[], $6, clock_timestamp() + $7::int * interval '1 day')
  on conflict (name) where revoked_at is null do nothing
  returning ${TOKEN}`;

const FIND_TOKENS = `
  select ${TOKEN}, case when t.revoked_at is not null then 'revoked'
    when t.expires_at <= clock_timestamp() then 'expired' else 'valid' end as state
  from access_tokens t where t.digest = $1`;

const LIST = `select ${TOKEN} from access_tokens t order by t.created_at desc, t.id desc limit 200`;

// An id identifies one token. A name identifies the one that is not revoked.
const REVOKE = `
  update access_tokens t set revoked_at = clock_timestamp(), revoked_by = $2
  where (t.id = $1 or t.name = $1) and t.revoked_at is null
  returning ${TOKEN}`;

const SCOPES = `
  select distinct repositories from access_tokens
  where repositories is not null and revoked_at is null
    and (expires_at is null or expires_at > clock_timestamp())`;

const TOUCH = `
  update access_tokens set last_used_at = clock_timestamp()
  where id = $1 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`;

const COUNT_ADMINS = `
  select count(*)::int as count from access_tokens
  where 'admin' = any(roles) and revoked_at is null
    and (expires_at is null or expires_at > clock_timestamp())`;

const StoredPrincipal: z.ZodType<Principal> = z.object({
  name: z.string(),
  roles: z.array(Role),
  repositories: z.array(z.string()).nullable(),
});

const StoredHolder = z.object({ tokenDigest: z.string().nullable(), principal: StoredPrincipal.nullable() });

/** The store of console sessions. Their expiry is judged by the database's clock. */
export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore(db: Database) {
  return {
    /**
     * Begins a session that expires after `lifeMs`. `digest` is the SHA-256 of its cookie in hex. Also
     * deletes expired sessions.
     */
    begin: async (digest: string, holder: SessionHolder, lifeMs: number) => {
      await db.query('delete from sessions where expires_at <= clock_timestamp()', []);
      const [tokenDigest, principal] =
        'tokenDigest' in holder ? [holder.tokenDigest, null] : [null, toStored(holder.principal)];
      await db.query(BEGIN, [digest, tokenDigest, principal, lifeMs]);
    },
    /** Finds the holder of a session. Returns null if there is no such session or it has expired. */
    find: async (digest: string) => {
      const [row] = await db.query(FIND_SESSIONS, [digest]);
      return row === undefined ? null : toSessionHolder(StoredHolder.parse(row));
    },
    end: async (digest: string) => {
      await db.query('delete from sessions where digest = $1', [digest]);
    },
    /**
     * Keeps what a browser began at another host for `lifeMs`. `digest` is the SHA-256 of its cookie in hex.
     * Also deletes what has expired.
     */
    keepPending: async (digest: string, body: object, lifeMs: number) => {
      await db.query('delete from pending_returns where expires_at <= clock_timestamp()', []);
      await db.query(KEEP_PENDING, [digest, body, lifeMs]);
    },
    /** Returns what the browser began, or null if there is nothing or it has expired. */
    findPending: async (digest: string) => toPending(await db.query(FIND_PENDING, [digest])),
    /** Returns it and deletes it. Of several concurrent calls, only one returns it. */
    takePending: async (digest: string) => toPending(await db.query(TAKE_PENDING, [digest])),
  };
}

function toPending([row]: readonly object[]): unknown {
  return row === undefined ? null : z.object({ body: z.unknown() }).parse(row).body;
}

const KEEP_PENDING = `
  insert into pending_returns (digest, body, expires_at) values ($1, $2::jsonb, ${fromNow('$3')})`;
const FIND_PENDING = `
  select body from pending_returns where digest = $1 and expires_at > clock_timestamp()`;
const TAKE_PENDING = `
  delete from pending_returns where digest = $1 and expires_at > clock_timestamp() returning body`;

/** Creates the store of console preferences, by the holder's name. */
export function createPreferenceStore(db: Database) {
  return {
    /** Returns the holder's preferences, or the defaults if nothing was set. */
    of: async (holder: string) => {
      const [row] = await db.query<{ body: unknown }>('select body from preferences where holder = $1', [
        holder,
      ]);
      return Preferences.parse(row?.body ?? {});
    },
    set: async (holder: string, preferences: Preferences) => {
      await db.query(SET, [holder, preferences]);
    },
  };
}

function toStored({ name, roles, repositories }: Principal): object {
  return { name, roles, repositories: repositories ?? null };
}

function toSessionHolder({ tokenDigest, principal }: z.infer<typeof StoredHolder>): SessionHolder | null {
  if (tokenDigest !== null) return { tokenDigest };
  return principal === null ? null : { principal };
}

const BEGIN = `
  insert into sessions (digest, token_digest, principal, expires_at)
  values ($1, $2, $3::jsonb, ${fromNow('$4')})`;

const FIND_SESSIONS = `
  select token_digest as "tokenDigest", principal from sessions
  where digest = $1 and expires_at > clock_timestamp()`;

const SET = `
  insert into preferences (holder, body) values ($1, $2::jsonb)
  on conflict (holder) do update set body = excluded.body, updated_at = clock_timestamp()`;

/** The store of handled Slack button presses. Each is kept longer than its signature is valid. */
export type SlackPresses = ReturnType<typeof createSlackPresses>;

/**
 * Creates the store that detects repeated button presses. A Slack signature is valid for five minutes either
 * way, so older presses are refused by their time.
 */
export function createSlackPresses(db: Pick<Database, 'query'>) {
  return {
    /** Returns true the first time this ID is seen. Of several concurrent calls, only one returns true. */
    isNew: async (id: string) => (await db.query(KEEP_PRESSES, [id])).length > 0,
  };
}

const KEEP_PRESSES = `
  with old as (delete from slack_presses where pressed_at < clock_timestamp() - interval '1 hour'
    and id <> $1)
  insert into slack_presses (id) values ($1) on conflict (id) do nothing returning id`;
