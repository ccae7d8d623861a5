import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toFailedResult } from '../../../src/replay/run/results.ts';
import { readResults } from '../../../src/replay/run/results-file.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-read-results-'));

describe('reading the results of a run', () => {
  it('accepts a file of an older version without the newest keys', async () => {
    const { quotes, logTokens, tools, iterations, terminationReason, answerConfidence, ...older } =
      toFailedResult('a', 'burst', 3);
    const { results } = await readResults(writeFileWith([older]));
    expect(results.get('a')).toMatchObject({
      id: 'a',
      error: 'burst',
      quotes: null,
      tools: [],
      answerConfidence: null,
    });
  });

  it('keeps no texts, because a hundred thousand results must fit in memory', async () => {
    const excerpts = [{ source: 'log', lineStart: 1, lineEnd: 2, text: 'a long one', reason: 'error' }];
    const { results } = await readResults(
      writeFileWith([{ ...toFailedResult('a', '', 0), error: null, excerpts, rootCause: 'long' }]),
    );
    expect(results.get('a')).toMatchObject({
      excerpts: [{ lineStart: 1, lineEnd: 2, text: '' }],
      rootCause: null,
    });
  });

  it('treats the line separators of Unicode as parts of a text', async () => {
    const { results } = await readResults(
      writeFileWith([toFailedResult('a', 'half\u2028a line\u2029', 3), toFailedResult('b', '', 0)]),
    );
    expect([...results.keys()]).toEqual(['a', 'b']);
  });

  it.each([
    ['a line that is no JSON', ['{"id":'], /results\.jsonl, line 1 is not JSON: .*interrupted\?$/],
    [
      'a wrong field',
      [toFailedResult('a', '', 0), { ...toFailedResult('b', '', 0), tokens: -1 }],
      /line 2, field tokens: /,
    ],
    [
      'a category that is none',
      [{ ...toFailedResult('a', '', 0), category: 'WEATHER' }],
      /line 1, field category: WEATHER is not one of CODE_ERROR/,
    ],
    [
      'a case that stands twice',
      [toFailedResult('a', '', 0), '', toFailedResult('a', '', 0)],
      /line 3: the case a was already on line 1\.$/,
    ],
    ['nothing', [''], /contains no results\.$/],
  ])('refuses %s', async (_name, lines, sentence) => {
    await expect(readResults(writeFileWith(lines))).rejects.toThrow(sentence);
  });

  it('refuses a missing file and a folder', async () => {
    await expect(readResults(join(FOLDER, 'none.jsonl'))).rejects.toThrow('none.jsonl does not exist.');
    await expect(readResults(FOLDER)).rejects.toThrow('does not exist');
  });
});

function writeFileWith(lines: readonly (object | string)[]): string {
  const path = join(mkdtempSync(join(FOLDER, 'run-')), 'results.jsonl');
  writeFileSync(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  );
  return path;
}
