import { expect } from 'vitest';
import { installServer } from '../support/server-installation.ts';
import type { Installation } from './webhook-to-review.ts';

/** What docker-compose.yml starts: migrate, then an api and two workers on PostgreSQL, Redis and MongoDB. */
export async function installServices(environment: Readonly<Record<string, string>>): Promise<Installation> {
  const installation = await installServer(environment);
  const starting = async () => {
    await installation.start('migrate');
    const started = await Promise.allSettled([
      installation.start('api'),
      installation.start('worker'),
      installation.start('worker'),
    ]);
    const lasting = started.map((promiseSettledResult) =>
      promiseSettledResult.status === 'fulfilled'
        ? promiseSettledResult.value
        : Promise.reject(promiseSettledResult.reason),
    );
    for (const one of await Promise.all(lasting)) expect(await one.healthy(), one.errors()).toBe(true);
    return await Promise.all(lasting);
  };
  const lasting = await starting().catch(async (error: unknown) => {
    await installation.dispose();
    throw error;
  });
  const api = lasting[0];
  if (api === undefined) throw new Error('no api was started');
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
