import { describe, expect, it } from 'vitest';
import { digestOfToken, makeToken } from '../../../src/domain/access.ts';
import type { TokenToKeep } from '../../../src/stores/access.ts';
import type { StoresWorld } from './world.ts';

/** What the store of bearer tokens promises. */
export function testTokensContract(world: StoresWorld): void {
  describe('tokens', () => {
    const wanted = (change: Partial<TokenToKeep> = {}): TokenToKeep => ({
      name: `ci-${world.count}`,
      digest: digestOfToken(makeToken()),
      roles: ['read'],
      repositories: null,
      createdBy: 'ann',
      expiresInDays: null,
      ...change,
    });

    it('are stored as a digest, by which they are found', async () => {
      const { tokens } = world.stores;
      const token = wanted({
        roles: ['ingest', 'read'],
        repositories: ['acme/shop', 'other/*'],
        expiresInDays: 90,
      });
      const kept = await tokens.keep(token);

      expect(kept).toMatchObject({
        name: token.name,
        roles: ['ingest', 'read'],
        repositories: ['acme/shop', 'other/*'],
        createdBy: 'ann',
      });
      expect(Date.parse(kept.expiresAt ?? '') - Date.parse(kept.createdAt)).toBeCloseTo(90 * 86_400_000, -4);
      expect(await tokens.findByDigest(token.digest)).toEqual({ token: kept, state: 'valid' });
      expect(await tokens.findByDigest(digestOfToken('flt_other'))).toBeNull();
      expect((await tokens.list()).map(({ id }) => id)).toContain(kept.id);
    });

    it('are revoked by name or id, once; then the name can be used again', async () => {
      const { tokens } = world.stores;
      const first = await tokens.keep(wanted());
      await expect(tokens.keep(wanted())).rejects.toMatchObject({ code: 'conflict' });
      expect(await tokens.revoke(first.name, 'bob')).toMatchObject({
        id: first.id,
        revokedAt: expect.any(String),
      });
      expect(await tokens.revoke(first.name, 'bob')).toBeNull();
      const second = await tokens.keep(wanted());
      expect((await tokens.revoke(second.id, 'bob'))?.id).toBe(second.id);
    });

    it('are refused with the reason if they are revoked or expired', async () => {
      const { tokens } = world.stores;
      const [old, gone] = [wanted(), wanted({ name: `gone-${world.count}` })];
      const kept = await tokens.keep(old);
      await tokens.keep(gone);
      await world.db.query(
        `update access_tokens set expires_at = clock_timestamp() - interval '1 second' where id = $1`,
        [kept.id],
      );
      await tokens.revoke(gone.name, 'bob');

      expect((await tokens.findByDigest(old.digest))?.state).toBe('expired');
      expect((await tokens.findByDigest(gone.digest))?.state).toBe('revoked');
    });

    it('record their use at most once a minute', async () => {
      const { tokens } = world.stores;
      const token = wanted();
      const { id } = await tokens.keep(token);
      const usedAt = async () => (await tokens.findByDigest(token.digest))?.token.lastUsedAt ?? null;
      expect(await usedAt()).toBeNull();
      await tokens.touch(id);
      const first = await usedAt();
      await tokens.touch(id);
      expect(await usedAt()).toBe(first);
      await world.db.query(
        `update access_tokens set last_used_at = clock_timestamp() - interval '2 minutes' where id = $1`,
        [id],
      );
      await tokens.touch(id);
      expect(Date.parse((await usedAt()) ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''));
    });

    it('return the repositories of valid tokens with a scope', async () => {
      const { tokens } = world.stores;
      const scope = [`acme/one-${world.count}`, `acme/two-${world.count}`];
      const [held, old, gone] = [
        wanted({ repositories: scope }),
        wanted({ name: `o-${world.count}` }),
        wanted({ name: `g-${world.count}` }),
      ];
      await tokens.keep(held);
      const { id } = await tokens.keep({ ...old, repositories: [`acme/old-${world.count}`] });
      await tokens.keep({ ...gone, repositories: [`acme/gone-${world.count}`] });
      await world.db.query(
        `update access_tokens set expires_at = clock_timestamp() - interval '1 second' where id = $1`,
        [id],
      );
      await tokens.revoke(gone.name, 'bob');

      const own = (await tokens.scopes()).filter((one) =>
        one.some((repository) => repository.endsWith(`-${world.count}`)),
      );
      expect(own).toEqual([scope]);
    });

    it('are counted if they are valid and have the role admin', async () => {
      const { tokens } = world.stores;
      const before = await tokens.countAdmins();
      const admin = await tokens.keep(wanted({ roles: ['admin'] }));
      await tokens.keep(wanted({ name: `reader-${world.count}` }));
      expect(await tokens.countAdmins()).toBe(before + 1);
      await tokens.revoke(admin.id, 'bob');
      expect(await tokens.countAdmins()).toBe(before);
    });
  });
}
