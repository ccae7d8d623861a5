import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CaseResult, toFailedResult } from '../../../src/replay/run/results.ts';
import { runFaultline } from '../../cli/faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-cli-compare-'));
const IDS = Array.from({ length: 20 }, (_, at) => `case-${at}`);
const DATASET = writeFileWith('cases.jsonl', [
  ...IDS.map((id) => ({ id, category: 'CODE_ERROR' })),
  { id: 'evil\u001b[31m', category: 'CODE_ERROR', log: 'x' },
]);
const A = createResults('a.jsonl', (at) => (at < 8 ? 'INFRA_ERROR' : 'CODE_ERROR'));
const B = createResults('b.jsonl', () => 'CODE_ERROR');

describe('compare', () => {
  it('prints an explanation, then the figures, then the cases', async () => {
    const ended = await runFaultline(['compare', '--dataset', DATASET, '--a', A, '--b', B]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(
      /^B is better by 40\.0 points of category accuracy \(95 % interval .*\); 8 won, 0 lost\.$/m,
    );
    expect(ended.stdout).toMatch(
      /^ +category accuracy +0\.600 +1\.000 +\+0\.400 .* 8\/0 .*B is better +n=20$/m,
    );
    expect(ended.stdout).toMatch(
      /^won: B is better \(8\)\n +case-0 \(cases\.jsonl:1\) +is CODE_ERROR; A: INFRA_ERROR; B: CODE_ERROR$/m,
    );
    // What a data set says is shown, never obeyed.
    expect(ended.stdout).toContain('answered by neither: 1: evil');
    expect(ended.stdout).not.toContain('\u001b');
  });

  it('prints one JSON object per data set, and writes a page', async () => {
    const page = join(FOLDER, 'compare.html');
    const ended = await runFaultline([
      'compare',
      '--dataset',
      DATASET,
      '--a',
      A,
      '--b',
      B,
      B,
      '--json',
      '--html',
      page,
    ]);
    const comparison = JSON.parse(ended.stdout);
    expect(comparison).toMatchObject({
      ok: true,
      schema: 1,
      dataset: 'cases.jsonl',
      wonBy: 'category accuracy',
      cases: { compared: 20 },
    });
    expect(comparison.sides.b.spread).toMatchObject({ repeats: 2, flips: [] });
    expect(comparison.won).toHaveLength(8);
    expect(readFileSync(page, 'utf8')).toContain('Won: B is better <span class="quiet">(8)</span>');
  });

  it('never overwrites its own input with the page', async () => {
    const ended = await runFaultline(['compare', '--dataset', DATASET, '--a', A, '--b', B, '--html', B]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });

  it.each([
    ['a results file that is not there', ['--a', join(FOLDER, 'none.jsonl')], /none\.jsonl does not exist/],
    [
      'half a line',
      ['--a', writeFileWith('half.jsonl', ['{"id":"case-1"'])],
      /half\.jsonl, line 1 is not JSON/,
    ],
    [
      'a data set that is not there',
      ['--dataset', join(FOLDER, 'nothing')],
      /nothing is neither a file nor a folder/,
    ],
    [
      'another data set',
      ['--dataset', writeFileWith('other.jsonl', [{ id: 'z', category: 'CODE_ERROR', log: 'x' }])],
      /No case is on both sides/,
    ],
  ])('exits with 3 and a sentence for %s', async (_name, args, sentence) => {
    const all = { '--dataset': DATASET, '--a': A, '--b': B, [args[0] ?? '']: args[1] ?? '' };
    const ended = await runFaultline(['compare', ...Object.entries(all).flat()]);
    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(sentence);
  });

  it('with one side only is a usage error', async () => {
    expect(await runFaultline(['compare', '--dataset', DATASET, '--a', A])).toMatchObject({
      code: 2,
      stdout: '',
    });
  });
});

function createResults(name: string, categoryOf: (at: number) => string): string {
  const lines = IDS.map(
    (id, at): CaseResult => ({
      ...toFailedResult(id, '', 0),
      error: null,
      category: categoryOf(at),
      action: 'human_review',
    }),
  );
  return writeFileWith(name, lines);
}

function writeFileWith(name: string, lines: readonly (object | string)[]): string {
  const path = join(FOLDER, name);
  writeFileSync(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return path;
}
