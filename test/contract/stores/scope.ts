import { describe, expect, it } from 'vitest';
import { PAGE, type StoresWorld } from './world.ts';

/** What lists show to whoever may see some repositories only. */
export function scopeContract(world: StoresWorld): void {
  describe('scope', () => {
    it('omits other repositories, and nothing else', async () => {
      const { stores, db } = world;
      const name = `sco_e-${world.count}`;
      const names = [`${name}/a`, `${name}/b`, `${name.replace('_', 'x')}/a`, `${name}x/a`];
      for (const repository of names) {
        const build = await world.build({ repository });
        const analysis = await world.storeAnalysis(build, `fp-${repository}`);
        await db.query(
          `insert into conversations (id, analysis_id, build_id, title, started_by, started_at, last_asked_at)
           values ($1, $2, $3, 't', 'ann', now(), now())`,
          [`thr_${repository}`, analysis.id, build.id],
        );
        await world.openReview({ repository });
      }
      const seen = async (repositories: readonly string[]) => ({
        builds: (await stores.builds.list({ repositories }, PAGE)).map((one) => one.repository).sort(),
        reviews: (await stores.reviews.list({ repositories }, PAGE)).map((one) => one.repository).sort(),
        threads: (await stores.conversations.list({ repositories }, PAGE))
          .map((one) => one.id.slice(4))
          .sort(),
        failures: await stores.failures.search({ repositories }, PAGE),
        questions: await stores.questions.list({ repositories }, PAGE),
        library: await stores.library.list(PAGE, { repositories }),
      });
      const only = (...all: string[]) => ({
        builds: all,
        reviews: all,
        threads: all,
        failures: [],
        questions: [],
        library: [],
      });

      expect(await seen([`${name}/b`])).toEqual(only(`${name}/b`));
      expect(await seen([`${name.replace('_', 'x')}/a`, 'acme/nothing'])).toEqual(
        only(`${name.replace('_', 'x')}/a`),
      );
      expect(await seen([`${name}/*`])).toEqual(only(`${name}/a`, `${name}/b`));
      expect(await seen([`${name}/b`, `${name}x/*`])).toEqual(only(`${name}/b`, `${name}x/a`));
      expect(await seen(['nobody/nothing'])).toEqual(only());
    });
  });
}
