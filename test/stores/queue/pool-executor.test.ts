import { expect, it } from 'vitest';
import { poolExecutor } from '../../../src/stores/queue/pg-boss.ts';

/** A pool of one connection that answers as it is told to; `released` says whether each time it was thrown away. */
function poolThat(query: (text: string) => Promise<unknown>) {
  const released: boolean[] = [];
  const client = { query, release: (broken = false) => void released.push(broken) };
  return { released, pool: { connect: async () => client } };
}

it('gives a connection back after an answer, and after a refusal that could be rolled back', async () => {
  const { released, pool } = poolThat(async (text) => {
    if (text === 'refused') throw new Error('no such table');
    return { rows: [{ a: 1 }] };
  });
  const sql = poolExecutor(pool);

  expect(await sql.executeSql('asked')).toEqual({ rows: [{ a: 1 }] });
  await expect(sql.executeSql('refused')).rejects.toThrow('no such table');

  expect(released).toEqual([false, false]);
});

it('T27: throws a connection away on which not even a rollback is answered', async () => {
  const { released, pool } = poolThat(async () => {
    throw new Error('Query read timeout');
  });

  await expect(poolExecutor(pool).executeSql('asked')).rejects.toThrow('Query read timeout');

  expect(released).toEqual([true]);
});
