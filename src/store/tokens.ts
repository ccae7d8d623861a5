import { z } from 'zod';
import { AccessToken } from '../domain/access.ts';
import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { TokenStore } from '../ports/access.ts';
import type { Database } from '../ports/database.ts';

const Found = z.object({ state: z.enum(['valid', 'expired', 'revoked']) });

/** Bearer tokens in the database, by their digests. */
export function createTokenStore(db: Database): TokenStore {
  return {
    keep: async ({ name, digest, roles, repositories, createdBy, expiresInDays }, sql = db) => {
      const [row] = await sql.query(KEEP, [newId('tok'), name, digest, [...roles], repositories, createdBy, expiresInDays]);
      if (row === undefined)
        throw new TriageError('conflict', `A token named ${name} already exists. Revoke it first, or choose another name.`);
      return AccessToken.parse(row);
    },
    findByDigest: async (digest) => {
      const [row] = await db.query(FIND, [digest]);
      return row === undefined ? null : { token: AccessToken.parse(row), state: Found.parse(row).state };
    },
    list: async () => (await db.query(LIST)).map((row) => AccessToken.parse(row)),
    revoke: async (idOrName, by) => {
      const [row] = await db.query(REVOKE, [idOrName, by]);
      return row === undefined ? null : AccessToken.parse(row);
    },
    touch: async (id) => void (await db.query(TOUCH, [id])),
    scopes: async () => (await db.query<{ repositories: string[] }>(SCOPES)).map(({ repositories }) => repositories),
    countAdmins: async () => {
      const [row] = await db.query<{ count: number }>(COUNT_ADMINS);
      return row?.count ?? 0;
    },
  };
}

const TOKEN = `t.id, t.name, t.roles, t.repositories, t.created_by as "createdBy", t.created_at as "createdAt",
  t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt", t.revoked_at as "revokedAt"`;

const KEEP = `
  insert into access_tokens as t (id, name, digest, roles, repositories, created_by, expires_at)
  values ($1, $2, $3, $4::text[], $5::text[], $6, clock_timestamp() + $7::int * interval '1 day')
  on conflict (name) where revoked_at is null do nothing
  returning ${TOKEN}`;

const FIND = `
  select ${TOKEN}, case when t.revoked_at is not null then 'revoked' when t.expires_at <= clock_timestamp() then 'expired' else 'valid' end as state
  from access_tokens t where t.digest = $1`;

const LIST = `select ${TOKEN} from access_tokens t order by t.created_at desc, t.id desc limit 200`;

// An id says one token; a name says the one that is not revoked.
const REVOKE = `
  update access_tokens t set revoked_at = clock_timestamp(), revoked_by = $2
  where (t.id = $1 or t.name = $1) and t.revoked_at is null
  returning ${TOKEN}`;

const SCOPES = `
  select distinct repositories from access_tokens
  where repositories is not null and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`;

const TOUCH = `
  update access_tokens set last_used_at = clock_timestamp()
  where id = $1 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`;

const COUNT_ADMINS = `
  select count(*)::int as count from access_tokens
  where 'admin' = any(roles) and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`;
