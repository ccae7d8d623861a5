import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultline } from '../faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-cli-replay-'));

describe('replay', () => {
  it('prints a table, writes a row a case in their order, and goes on after a bad one', async () => {
    const dataset = datasetOf([
      '{"id":"a","log":"building\\nError: boom\\n","expected_lines":[[2,2]]}',
      'no json',
      '{"id":"c","log":"E   assert 1 == 2\\n"}',
    ]);
    const out = join(FOLDER, 'results.jsonl');
    const ended = await faultline(['replay', '--dataset', dataset, '--only', 'read', '--out', out]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^ +cases +3 +n=3$/m);
    expect(ended.stdout).toMatch(/^ +cases that failed +1 +n=3$/m);
    expect(ended.stdout).toMatch(/^ +recall of labelled lines +1\.000 +n=1$/m);
    const ids = readFileSync(out, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(['a', 'line-2', 'c']);
  });

  it('prints a table a data set, and a JSON line a data set where asked', async () => {
    const sets = [datasetOf(['{"id":"a","log":"Error: boom\\n"}']), datasetOf(['{"id":"b","log":"Error: bang\\n"}'])];
    const tables = await faultline(['replay', '--dataset', ...sets, '--only', 'read']);
    expect(tables.stdout.match(/^cases\.jsonl: reading alone/gm)).toHaveLength(2);
    const json = await faultline(['replay', '--dataset', ...sets, '--only', 'read', '--json']);
    const lines = json.stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).dataset)).toEqual(sets);
    expect(JSON.parse(lines[0] ?? '').figures[0]).toEqual({ section: 'cases', name: 'cases', value: 1, cases: 1 });
  });

  it.each([
    ['a missing data set', ['--dataset', join(FOLDER, 'none.jsonl')], /none\.jsonl is no file/],
    ['a directory', ['--dataset', FOLDER], /is no file/],
    ['an empty data set', ['--dataset', datasetOf(['', ''])], /holds no case/],
    ['a place that cannot be written', ['--dataset', datasetOf(['{}']), '--out', join(FOLDER, 'no/where')], /cannot be written/],
  ])('%s: exit 3 and a sentence', async (_name, args, sentence) => {
    const ended = await faultline(['replay', ...args, '--only', 'read']);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(sentence);
  });
});

function datasetOf(lines: readonly string[]): string {
  const path = join(mkdtempSync(join(FOLDER, 'set-')), 'cases.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}
