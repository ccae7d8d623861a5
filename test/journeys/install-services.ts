import { expect } from 'vitest';
import { installServer } from '../support/server-installation.ts';
import type { Installation } from './webhook-to-review.ts';

/** What docker-compose.yml starts: migrate, then an api and two workers on PostgreSQL, Redis and MongoDB. */
export async function installServices(environment: Readonly<Record<string, string>>): Promise<Installation> {
  const installation = await installServer(environment);
  await installation.start('migrate');
  const [api] = await Promise.all([installation.start('api'), installation.start('worker'), installation.start('worker')]);
  const lasting = installation.running.filter(({ name }) => name !== 'migrate');
  for (const one of lasting) expect(await one.healthy(), one.errors()).toBe(true);
  return {
    address: api.address,
    errors: () => lasting.map((one) => `${one.name}: ${one.errors()}`).join('\n'),
    stop: async () => {
      for (const one of lasting) one.process.kill('SIGTERM');
      return await Promise.all(lasting.map(({ exited }) => exited));
    },
    dispose: installation.dispose,
  };
}
