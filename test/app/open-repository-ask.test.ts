import { expect, it } from 'vitest';
import { openRepositoryAsk } from '../../src/app/open-repository-ask.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { createMaskingOptions } from '../../src/config/masking.ts';
import { parseConfig } from '../../src/config/schema.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';

it('repositories are listed while the code host does not respond, and it is asked about only a few', async () => {
  const config = parseConfig(createEmbeddedPreset('unused', 'unused'));
  const names = Array.from({ length: 50 }, (_, index) => `acme/project-${index}`).sort();
  let asked = 0;
  const { repositoryAsk, close } = await openRepositoryAsk({
    config,
    stores: {
      builds: { repositories: async (_filter, limit) => names.slice(0, limit) },
      repositoryThreads: Object.create(null),
    },
    codeHost: {
      canRead: () => {
        asked += 1;
        return new Promise(() => undefined);
      },
      resolve: async () => ({ ref: null, note: null }),
    },
    masker: createMasker(createMaskingOptions(config)),
    clock: { now: () => Date.now() },
    logger: silentLogger,
    checkMs: 20,
  });

  expect(await repositoryAsk.repositories({ words: '' }, 200)).toEqual(names);
  expect(asked).toBeLessThan(10);
  await close();
});
