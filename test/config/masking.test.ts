import { expect, it } from 'vitest';
import { createMaskingOptions } from '../../src/config/masking.ts';

const WORK = { concurrency: 1, inServe: true };

it.each([
  ['postgres://u:p%40ss%2Fword@db/faultline', 'p@ss/word'],
  ['postgres://u:half%written@db/faultline', 'half%written'],
  ['postgres://u:with@in@[::1]:5432/faultline', 'with@in'],
])('the password in %s is masked', (url, password) => {
  const ours = { driver: 'postgres', url: 'postgres://db/x', poolSize: 1 } as const;

  expect(createMaskingOptions({ database: { ...ours, url, readerUrl: null, ownerUrl: null } }).known).toEqual(
    [password],
  );
  expect(createMaskingOptions({ database: { ...ours, readerUrl: url, ownerUrl: null } }).known).toEqual([
    password,
  ]);
  expect(createMaskingOptions({ database: { ...ours, readerUrl: null, ownerUrl: url } }).known).toEqual([
    password,
  ]);
});

it('the passwords of a replica set with several servers and of a Redis without a user are masked', () => {
  const { known } = createMaskingOptions({
    buildArchive: {
      driver: 'mongodb',
      url: 'mongodb://u:s3cret-of-mongo@one:27017,two:27017/?replicaSet=rs0',
      database: 'faultline',
    },
    jobQueue: {
      driver: 'bullmq',
      ...WORK,
      url: 'rediss://:s3cret-of-redis@cache:6380/1',
      prefix: 'faultline',
    },
  });

  expect(known).toEqual(['s3cret-of-redis', 's3cret-of-mongo']);
});

it('an address without a password has nothing to mask', () => {
  const database = {
    driver: 'postgres',
    url: 'postgres://u@db/x?host=a:b@c',
    readerUrl: null,
    ownerUrl: null,
    poolSize: 1,
  } as const;

  expect(createMaskingOptions({ database }).known).toEqual([]);
});
