import { defineConfig } from 'vitest/config';

/** Imports JSON as bundlers do and Node does not. */
const server = { deps: { inline: ['@actions/workflow-parser'] } };

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
          exclude: ['test/fixtures/**', 'node_modules/**'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
