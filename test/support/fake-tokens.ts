import { type AccessToken, digestOfToken, makeToken } from '../../src/domain/access.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { TokenStore } from '../../src/stores/access.ts';
import type { Stores } from '../../src/stores/stores.ts';
import { createEmptyHttpDeps } from './http-deps.ts';

interface Row {
  token: AccessToken;
  readonly digest: string;
}

export interface FakeTokens extends TokenStore {
  /** Creates a token and returns it as its holder has it. */
  give(
    token: Partial<Pick<AccessToken, 'name' | 'roles' | 'repositories' | 'expiresAt' | 'revokedAt'>>,
  ): string;
  /** Returns the number of lookups of digests. */
  asked(): number;
  readonly touched: string[];
}

/** Creates a store of tokens in memory. */
export function createFakeTokens(): FakeTokens {
  const rows: Row[] = [];
  let asked = 0;
  const touched: string[] = [];
  const add = (digest: string, token: Partial<AccessToken>): AccessToken => {
    const kept: AccessToken = {
      id: `tok_${rows.length + 1}`,
      name: `token-${rows.length + 1}`,
      roles: ['read'],
      repositories: null,
      createdBy: 'test',
      createdAt: new Date(0).toISOString(),
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      ...token,
    };
    rows.push({ token: kept, digest });
    return kept;
  };
  return {
    touched,
    asked: () => asked,
    give: (token) => {
      const text = makeToken();
      add(digestOfToken(text), token);
      return text;
    },
    keep: async ({ digest, name, roles, repositories, createdBy, expiresInDays }) => {
      if (rows.some(({ token }) => token.name === name && token.revokedAt === null))
        throw new TriageError('conflict', `There is a ${name}.`);
      const expiresAt =
        expiresInDays === null ? null : new Date(Date.now() + expiresInDays * 86_400_000).toISOString();
      return add(digest, {
        name,
        roles: [...roles],
        repositories: repositories === null ? null : [...repositories],
        createdBy,
        expiresAt,
      });
    },
    findByDigest: async (digest) => {
      asked += 1;
      const token = rows.find((row) => row.digest === digest)?.token;
      if (token === undefined) return null;
      const over = token.expiresAt !== null && Date.parse(token.expiresAt) <= Date.now();
      return { token, state: token.revokedAt !== null ? 'revoked' : over ? 'expired' : 'valid' };
    },
    scopes: async () =>
      rows.flatMap(({ token: { repositories, revokedAt } }) =>
        repositories === null || revokedAt !== null ? [] : [repositories],
      ),
    list: async () => rows.map(({ token }) => token).reverse(),
    revoke: async (idOrName) => {
      const row = rows.find(
        ({ token }) => token.revokedAt === null && (token.id === idOrName || token.name === idOrName),
      );
      if (row === undefined) return null;
      row.token = { ...row.token, revokedAt: new Date().toISOString() };
      return row.token;
    },
    touch: async (id) => void touched.push(id),
    countAdmins: async () =>
      rows.filter(({ token }) => token.roles.includes('admin') && token.revokedAt === null).length,
  };
}

/** Creates stores that all fail, except the given ones. */
export function createStoresWith(given: Partial<Stores>): Stores {
  const down = createEmptyHttpDeps().stores;
  return new Proxy(down, {
    get: (target, name, receiver) => Reflect.get(name in given ? given : target, name, receiver),
  });
}
