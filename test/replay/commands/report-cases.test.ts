import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { reportCases } from '../../../src/replay/commands/report-cases.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';
import { createResults } from '../../../src/replay/run/results-file.ts';

const SECRET = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';

it('a report shows nothing unmasked that people wrote about a case', async () => {
  const results = await createResults(
    join(mkdtempSync(join(tmpdir(), 'faultline-report-')), 'results.jsonl'),
  );
  const result = { ...toFailedResult('a', '', 0), error: null };
  await results.append(result);
  const row = {
    id: 'a',
    root_cause: `${SECRET} expired`,
    fix: `not ${SECRET}`,
    faulty_files: [`src/${SECRET}/a.ts`, 'src/b.ts'],
  };
  const source = {
    name: 'rows',
    path: 'rows',
    cases: async function* () {},
    measure: async () => ({ cases: 1, sha256: null }),
  };
  const run = {
    source,
    cases: [{ row, result, analysis: null, quotes: { made: 0, literal: 0 } }],
    milliseconds: 1,
    stopped: null,
  };
  const config = loadConfig(createEmbeddedPreset('/data', '/knowledge'), {}, () => '');
  const [[one] = []] = await reportCases(
    [{ heading: 'rows', run, sections: [], repeat: 1, results }],
    config,
  );
  await results.close();
  expect(JSON.stringify(one)).not.toContain(SECRET);
  expect(one?.more).toMatchObject({ trueCause: '*** expired', faultyFiles: ['src/***/a.ts', 'src/b.ts'] });
});
