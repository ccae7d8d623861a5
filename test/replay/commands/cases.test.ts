import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runFaultline } from '../../cli/faultline.ts';

it('cases check reports errors of a data set and exits with 3', async () => {
  const dataset = join(mkdtempSync(join(tmpdir(), 'faultline-cases-')), 'rows.jsonl');
  writeFileSync(
    dataset,
    '{"id":"a","log":"x","category":"CODE_ERROR"}\n{"id":"b","log":"x","category":"WEATHER"}\n',
  );
  const text = await runFaultline(['cases', 'check', dataset]);
  expect(text.code).toBe(3);
  expect(text.stderr).toMatch(
    /^line 2 \("b"\), category: "WEATHER" is not a category; use one of CODE_ERROR, /,
  );
  expect(text.stdout).toMatch(
    /^2 cases: 1 problem, 1 case without one\. 1 good one, 0 with a time:\n {7}1 {2}CODE_ERROR\n/,
  );
  const json = await runFaultline(['cases', 'check', dataset, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    cases: 2,
    good: 1,
    problems: 1,
    listed: [{ line: 2, id: 'b', field: 'category' }],
  });
});

it('cases prints no terminal escapes from a data set', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-cases-'));
  const dataset = join(folder, 'rows.jsonl');
  const rows = [
    { id: 'a\u001b]0;owned\u0007', project: 'p\u001b[2J', log: 'x' },
    { id: 'b\u001b[2J', log: 'x', category: 'W\u001b[2J' },
  ];
  writeFileSync(
    dataset,
    rows.map((row) => JSON.stringify({ ...row, happened_at: '2026-01-01T00:00:00Z' })).join('\n'),
  );
  const check = await runFaultline(['cases', 'check', dataset]);
  const taken = await runFaultline(['cases', 'import', dataset, '--out', join(folder, 'set')]);
  for (const { stdout, stderr } of [check, taken]) expect(stdout + stderr).not.toMatch(/[\u0007\u001b]/);
  expect(taken.stdout).toContain('b⟦U+001B⟧[2J:');
});

it('cases split is random only with a seed', async () => {
  const dataset = join(mkdtempSync(join(tmpdir(), 'faultline-cases-')), 'rows.jsonl');
  writeFileSync(dataset, '{"id":"a","log":"x"}\n');
  const split = await runFaultline(['cases', 'split', dataset, '--by', 'random', '--out', `${dataset}.out`]);
  expect([split.code, split.stderr]).toEqual([
    2,
    'error: A random split needs --seed WORDS, so that it can be repeated.\n',
  ]);
});
