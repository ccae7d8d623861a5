import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPostgresArchive } from '../../../src/stores/archive/postgres.ts';
import { openPglite } from '../../../src/stores/database/pglite.ts';
import { createStores } from '../../../src/stores/stores.ts';
import { runFaultline } from '../../cli/faultline.ts';
import {
  sampleAnalysis,
  sampleBuild,
  sampleDecision,
  sampleGroup,
  sampleReview,
} from '../../stores/samples.ts';
import { copyTestDatabase } from '../../support/pglite.ts';

let folder = '';
let decided = '';

/** A data directory with a failure that a person decided, and one whose logs are gone. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-cases-'));
  const db = await openPglite({ dataDir: await copyTestDatabase(join(folder, 'database')) });
  const stores = createStores(db, { now: () => Date.parse('2026-03-01T00:00:00.000Z') });
  const stock = async (number: string) => {
    const { build } = await stores.builds.upsert(sampleBuild({ repository: 'acme/shop', number }));
    await stores.failures.saveGroups(build.id, [sampleGroup(build.id, 'f1')]);
    const triage = await stores.triages.open(build.id, 'f1');
    const { analysis } = await stores.analyses.insertOnce(
      sampleAnalysis({ buildId: build.id, triageId: triage.id, fingerprint: 'f1' }),
    );
    const review = await stores.reviews.open(sampleReview(analysis));
    await stores.reviews.decide(
      review.id,
      review.version,
      sampleDecision(review, { type: 'correct', category: 'INFRA_ERROR' }),
    );
    return build.id;
  };
  decided = await stock('1');
  await stock('2');
  await createPostgresArchive(db).put(decided, {
    name: 'log',
    kind: 'log',
    text: 'no space left on device',
    notes: [],
  });
  await db.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('cases exports what people decided, and lists cases without a log; the result passes the check', async () => {
  const out = join(folder, 'set');
  const exported = await runFaultline([
    'cases',
    'export',
    '--reviewed',
    '--repository',
    'acme/shop',
    '--out',
    out,
    '--data',
    folder,
    '--json',
  ]);
  expect([exported.code, exported.stderr]).toEqual([0, '']);
  expect(JSON.parse(exported.stdout)).toMatchObject({
    ok: true,
    cases: 1,
    leftOut: 1,
    categories: { INFRA_ERROR: 1 },
  });
  const [row = ''] = (await readFile(join(out, 'cases.jsonl'), 'utf8')).split('\n');
  expect(JSON.parse(row)).toMatchObject({
    id: decided,
    project: 'acme/shop',
    category: 'INFRA_ERROR',
    decided_by: 'ada',
  });

  const checked = await runFaultline(['cases', 'check', out]);
  expect([checked.code, checked.stdout.split('\n')[0]]).toEqual([
    0,
    '1 case: no problems. 1 good one, 1 with a time:',
  ]);
  const neither = await runFaultline(['cases', 'export', '--out', join(folder, 'other'), '--data', folder]);
  expect([neither.code, neither.stderr]).toEqual([
    2,
    expect.stringContaining('--reviewed for reviewed failures'),
  ]);
});
