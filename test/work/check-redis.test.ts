import { expect, it } from 'vitest';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { checkRedis } from '../../src/work/drivers/redis-link.ts';

async function listWarnings(info: () => Promise<string>): Promise<string[]> {
  const warned: string[] = [];
  await checkRedis(
    { info },
    { ...silentLogger, warn: (_: object, message: string) => void warned.push(message) },
  );
  return warned;
}

const said = (version: string, policy: string) => async () =>
  `# Server\r\nredis_version:${version}\r\nredis_mode:standalone\r\n\r\n# Memory\r\nmaxmemory_policy:${policy}\r\n`;

it.each(['6.2.0', '7.0.15', '8.4.1'])(
  'a Redis server %s that keeps all data is accepted',
  async (version) => {
    expect(await listWarnings(said(version, 'noeviction'))).toEqual([]);
  },
);

it.each(['5.0.14', '6.0.16'])('a Redis server %s causes a warning', async (version) => {
  expect(await listWarnings(said(version, 'noeviction'))).toEqual([
    expect.stringContaining('older than 6.2'),
  ]);
});

it('a server that evicts keys causes a warning', async () => {
  expect(await listWarnings(said('7.0.15', 'volatile-lru'))).toEqual([
    expect.stringContaining('maxmemory-policy noeviction'),
  ]);
});

it('a server that does not reveal its settings causes no warning', async () => {
  expect(await listWarnings(async () => 'nothing:known')).toEqual([]);
  const refused = async (): Promise<string> => {
    throw new Error("NOPERM this user has no permissions to run the 'info' command");
  };
  expect(await listWarnings(refused)).toEqual([]);
});
