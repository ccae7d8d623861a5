import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CaseProblem, type CheckedCases, checkCases } from '../../../src/replay/cases/case-set.ts';
import { readDatasetCases } from '../../../src/replay/cases/dataset.ts';

it('every error in a data set is reported up to a limit, and the rest are counted', async () => {
  const { problems, checked } = await check([
    '{"id":"a","project":"shop","log":"one\\ntwo","category":"CODE_ERROR","expected_lines":[[1,2]],"happened_at":"2026-01-01T00:00:00Z"}',
    '{"id":"b","project":"shop","log":"one","category":"WEATHER","also_ok":["RAIN"],"expected_lines":[[0,1]]}',
    '{"id":"a","log":"again"}',
    '{"id":"c"',
    '{"id":"d","log":"one\\ntwo","expected_lines":[[2,1],[1,9]]}',
    '{"id":"e","log_path":"none.log"}',
    '{"id":"f","log":"  "}',
    '{"id":"g","log":"x"}',
  ]);
  expect(problems.map(({ line, id, field, reason }) => `${line} ${id} ${field}: ${reason}`)).toEqual([
    expect.stringMatching(/^2 b expected_lines\.0\.0: Too small/),
    expect.stringMatching(/^2 b category: "WEATHER" is not a category; use one of CODE_ERROR, /),
    expect.stringMatching(/^2 b also_ok\.0: "RAIN" is not a category/),
    '3 a id: "a" is already the ID of line 1',
    expect.stringMatching(/^4 null null: is not JSON/),
    '5 d expected_lines.0: the range ends before it begins',
    '5 d expected_lines.1: the log ends at line 2',
    expect.stringMatching(/^6 e null: .*none\.log is missing or cannot be read\.$/),
    '7 f null: the log is empty',
  ]);
  const projects = { g: 1, shop: 1 };
  expect(checked).toEqual({
    cases: 8,
    good: 2,
    problems: 9,
    categories: { CODE_ERROR: 1, none: 1 },
    projects,
    dated: 1,
  });
});

it('logs are not checked if that is requested', async () => {
  expect((await check(['{"id":"e","log_path":"none.log"}'], false)).checked).toMatchObject({
    good: 1,
    problems: 0,
  });
});

async function check(
  lines: readonly string[],
  logs = true,
): Promise<{ problems: CaseProblem[]; checked: CheckedCases }> {
  const dataset = join(mkdtempSync(join(tmpdir(), 'faultline-check-')), 'cases.jsonl');
  writeFileSync(dataset, lines.join('\n'));
  const problems: CaseProblem[] = [];
  const options = {
    logs: logs ? { maxBytes: 1_000_000 } : null,
    onProblem: (problem: CaseProblem) => void problems.push(problem),
  };
  return {
    problems,
    checked: await checkCases(readDatasetCases(dataset), options, new AbortController().signal),
  };
}
