import { z } from 'zod';
import { Preferences } from '../domain/access.ts';
import { type Principal, Role } from '../domain/review.ts';
import type { PreferenceStore, SessionHolder, SessionStore } from '../ports/access.ts';
import type { Database } from '../ports/database.ts';

const StoredPrincipal: z.ZodType<Principal> = z.object({
  name: z.string(),
  roles: z.array(Role),
  repositories: z.array(z.string()).nullable(),
});

const StoredHolder = z.object({ tokenDigest: z.string().nullable(), principal: StoredPrincipal.nullable() });

export function createSessionStore(db: Database): SessionStore {
  return {
    begin: async (digest, holder, lifeMs) => {
      await db.query('delete from sessions where expires_at <= clock_timestamp()', []);
      const [tokenDigest, principal] = 'tokenDigest' in holder ? [holder.tokenDigest, null] : [null, stored(holder.principal)];
      await db.query(BEGIN, [digest, tokenDigest, principal, lifeMs]);
    },
    find: async (digest) => {
      const [row] = await db.query(FIND, [digest]);
      return row === undefined ? null : holderOf(StoredHolder.parse(row));
    },
    end: async (digest) => {
      await db.query('delete from sessions where digest = $1', [digest]);
    },
  };
}

export function createPreferenceStore(db: Database): PreferenceStore {
  return {
    of: async (holder) => {
      const [row] = await db.query<{ body: unknown }>('select body from preferences where holder = $1', [holder]);
      return Preferences.parse(row?.body ?? {});
    },
    set: async (holder, preferences) => {
      await db.query(SET, [holder, preferences]);
    },
  };
}

function stored({ name, roles, repositories }: Principal): object {
  return { name, roles, repositories: repositories ?? null };
}

function holderOf({ tokenDigest, principal }: z.infer<typeof StoredHolder>): SessionHolder | null {
  if (tokenDigest !== null) return { tokenDigest };
  return principal === null ? null : { principal };
}

const BEGIN = `
  insert into sessions (digest, token_digest, principal, expires_at)
  values ($1, $2, $3::jsonb, clock_timestamp() + $4::float8 * interval '1 millisecond')`;

const FIND = `
  select token_digest as "tokenDigest", principal from sessions where digest = $1 and expires_at > clock_timestamp()`;

const SET = `
  insert into preferences (holder, body) values ($1, $2::jsonb)
  on conflict (holder) do update set body = excluded.body, updated_at = clock_timestamp()`;
