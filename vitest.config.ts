import { defineConfig } from 'vitest/config';

/** Imports JSON as bundlers do and Node does not. */
const server = { deps: { inline: ['@actions/workflow-parser'] } };

/** What kills and stops processes, or waits for leases to run out: one file after the other, so that none takes another's time for its own. */
const ALONE = [
  'test/journeys/**/*.int.test.ts',
  'test/adapters/{database,job-queue}/**/*.int.test.ts',
  'test/intake/**/*.int.test.ts',
  'test/triage/**/*.int.test.ts',
  'test/house/**/*.int.test.ts',
];

export default defineConfig({
  test: {
    // The default leaves one core idle, which on two cores is half of them.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          server,
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.int.test.ts', 'test/fixtures/**', 'node_modules/**'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          server,
          include: ['test/**/*.int.test.ts'],
          exclude: [...ALONE, 'test/fixtures/**', 'node_modules/**'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'alone',
          server,
          include: ALONE,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
