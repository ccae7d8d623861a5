import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { sampleEntry } from '../../stores/samples.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { triageLog } from '../../support/triage-world.ts';

const YAML = (...said: string[]) =>
  ['not ok 7 cart/sums-up', '  ---', ...said.map((line) => `  ${line}`), '  ...', ''].join('\n');

/** The same test, in three builds that say how it ended at most. */
const SILENT = {
  'no word': YAML('duration_ms: 12.5', 'severity: fail', 'exitcode: 1', 'stack: |-'),
  'a time limit': YAML('duration_ms: 120012.5', 'severity: fail', 'exitcode: -15', 'stack: |-', '  timeout'),
  'a signal': YAML('duration_ms: 12.5', 'severity: crashed', 'exitcode: -11', 'stack: |-'),
};
const SPEAKING = YAML(
  'severity: fail',
  'exitcode: 1',
  'stack: |-',
  '  TypeError: rates.of is not a function',
);

let db: TestDatabase;
let stores: Stores;
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, systemClock);
});
afterAll(async () => db.dispose());

/** Triages a build of the repository with this log. */
async function triageBuildLog(repository: string, log: string) {
  const { analysis, build } = await triageLog(db, repository, log);
  const [failure] = await stores.failures.listByBuild(build.id);
  if (failure === undefined) throw new Error('The failure was not stored.');
  return { analysis, failure };
}

describe('a test without a reason for its failure', () => {
  it.each(Object.entries(SILENT))(
    'has one fingerprint in every build, and never recalls an answer: %s',
    async (_, log) => {
      const repository = `acme/${createId('bld')}`;
      const first = await triageBuildLog(repository, log);
      await stores.library.insert(sampleEntry(first.analysis.fingerprint, { repository }));
      const second = await triageBuildLog(repository, log);

      expect(second.failure.fingerprint).toEqual(first.failure.fingerprint);
      expect(second.failure.generic).toBe(true);
      expect(second.analysis).toMatchObject({ recalled: null });
      expect(second.analysis.terminationReason).not.toBe('known_failure');
    },
  );

  it('recalls one as soon as it has a reason', async () => {
    const repository = `acme/${createId('bld')}`;
    const first = await triageBuildLog(repository, SPEAKING);
    await stores.library.insert(sampleEntry(first.analysis.fingerprint, { repository }));

    expect((await triageBuildLog(repository, SPEAKING)).analysis.terminationReason).toBe('known_failure');
  });
});
