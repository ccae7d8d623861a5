import { expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { BuildArchive } from '../../src/ports/build-archive.ts';
import { createMemoryArchive } from '../../src/stores/archive/memory.ts';
import { grepLog } from '../../src/tools/grep-log.ts';
import { createViewLog } from '../../src/tools/logs.ts';
import { sampleSubject } from '../support/subject.ts';
import { createTestToolbox } from './sample-tools.ts';

const away = async () => {
  throw new TriageError('storage-failed', 'MongoDB is not responding: no server', { retryable: true });
};

it('T29: while the archive is down, tools for the log report it as data, and at once after a few attempts', async () => {
  const { linesWith: _search, ...memory } = createMemoryArchive();
  const { build } = sampleSubject();
  await memory.put(build.id, { name: 'build.log', kind: 'log', text: 'one\ntwo', notes: [] });
  let asked = 0;
  const archive: BuildArchive = {
    ...memory,
    driver: 'mongodb',
    read: async () => {
      asked += 1;
      return await away();
    },
    lines: async () => {
      asked += 1;
      return await away();
    },
  };
  const ask = createTestToolbox([createViewLog(archive), grepLog(archive)], {
    resilience: { firstDelayMs: 2, breakAfter: 3, restMs: 60_000 },
  });

  expect(await ask('view_log', { source: 'build.log', from: 1, to: 2 })).toMatchObject({
    status: 'failed',
    findings: [],
  });
  expect(await ask('grep_log', { source: 'build.log', text: 'two' })).toMatchObject({
    status: 'failed',
    findings: [],
  });
  const before = asked;
  const outcome = await ask('view_log', { source: 'build.log', from: 2, to: 2 });

  expect(outcome).toMatchObject({ status: 'failed' });
  expect(outcome.summary).toContain('is paused');
  expect(asked).toBe(before);
});
