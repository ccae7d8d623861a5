import { expect, it } from 'vitest';
import { getCiName, nameEveryCi } from '../../src/console/ci-links.ts';
import { Provider } from '../../src/domain/build.ts';

it('the list of CI systems contains every one that sends webhooks, and no uploads', () => {
  const webhooks = Provider.options.filter((provider) => provider !== 'upload');
  for (const provider of webhooks) expect(nameEveryCi()).toContain(getCiName({ provider }));
  expect(nameEveryCi()).toMatch(/^GitHub, .*, or Azure Pipelines$/);
});
