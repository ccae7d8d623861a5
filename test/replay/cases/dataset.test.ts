import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { DatasetRow } from '../../../src/replay/cases/case.ts';
import {
  type FileLine,
  type RowOutcome,
  readDataset,
  readTexts,
  streamNumberedLines,
} from '../../../src/replay/cases/dataset.ts';

const LIMITS = { maxBytes: 1_000_000, green: true };

describe('reading a data set', () => {
  it('returns rows in order, without blank lines and byte order mark', async () => {
    const outcomes = await read(['\ufeff{"id":"a","log":"x"}\r', '', ' \t', '{"id":"b","log":"y"}']);
    expect(
      outcomes.map((outcome) =>
        'row' in outcome ? `${outcome.line} ${outcome.row.id} ${outcome.row.log}` : outcome.error,
      ),
    ).toEqual(['1 a x', '4 b y']);
  });

  it('keeps the first of several rows with the same id, and reports both lines for the others', async () => {
    const [first, other, again] = await read([
      '{"id":"a","log":"x"}',
      '{"id":"b","log":"y"}',
      '{"id":"a","log":"z"}',
    ]);
    expect(first).toMatchObject({ row: { id: 'a', log: 'x' } });
    expect(other).toMatchObject({ row: { id: 'b' } });
    expect(again).toEqual({
      line: 3,
      id: 'a',
      field: 'id',
      error: 'line 3, field id: "a" is already the ID of line 1',
    });
  });

  it('lists the allowed labels in its error', async () => {
    const [one] = await read(['{"id":"a","log":"x","also_ok":["INFRA_ERROR","WEATHER"]}']);
    expect(one).toMatchObject({
      field: 'also_ok.1',
      error:
        'line 1, field also_ok.1: "WEATHER" is not a category; use one of CODE_ERROR, INFRA_ERROR, CONFIG_ERROR, DEPENDENCY_ERROR, TEST_FAILURE',
    });
  });

  it('skips a line that is too long for a row, and continues the line numbers', async () => {
    const dataset = createFolder({});
    writeFileSync(dataset, `short\n${'x'.repeat(200_000)}\n\nlast`);
    const lines: FileLine[] = [];
    for await (const line of streamNumberedLines(dataset, 100_000)) lines.push(line);
    expect(lines).toEqual([
      { line: 1, text: 'short' },
      { line: 2, text: null },
      { line: 4, text: 'last' },
    ]);
  });

  it('reports where there is no data set', async () => {
    await expect(readDataset('/nowhere/cases.jsonl').next()).rejects.toMatchObject({ code: 'not-found' });
  });

  it('reports a line that is not JSON, and continues', async () => {
    const [bad, good] = await read(['{"id":"a"', '{"id":"b","log":"y"}']);
    expect(bad).toMatchObject({ line: 1, id: null, error: expect.stringMatching(/^line 1 is not JSON: /) });
    expect(good).toMatchObject({ row: { id: 'b' } });
  });

  it('reports the wrong field with the id of the row', async () => {
    const [category, lines, nameless] = await read([
      '{"id":"a","log":"x","category":"WEATHER"}',
      '{"id":"b","log":"x","expected_lines":[[0,2]]}',
      '{"log":"x"}',
    ]);
    expect(category).toMatchObject({ id: 'a', error: expect.stringContaining('line 1, field category: ') });
    expect(lines).toMatchObject({ id: 'b', error: expect.stringContaining('field expected_lines.0.0: ') });
    expect(nameless).toMatchObject({ id: null, error: expect.stringContaining('field id: ') });
  });

  it('accepts one or several ranges as lines of a failure, and reports an invalid one', async () => {
    const failure = { message: 'x', cause: 'c', category: 'CODE_ERROR' };
    const rows = [
      {
        id: 'a',
        log: 'x',
        failures: [
          { ...failure, log_lines: [1, 2] },
          { ...failure, log_lines: [[3, 4]] },
        ],
      },
      { id: 'b', log: 'x', failures: [{ ...failure, message: '' }] },
    ];
    const [good, bad] = await read(rows.map((row) => JSON.stringify(row)));
    expect(good).toMatchObject({ row: { failures: [{ log_lines: [[1, 2]] }, { log_lines: [[3, 4]] }] } });
    expect(bad).toMatchObject({ id: 'b', error: expect.stringContaining('field failures.0.message: ') });
  });

  it('ignores unknown fields', async () => {
    expect(await read(['{"id":"a","log":"x","annotator":{"deep":[1]}}'])).toMatchObject([
      { row: { id: 'a' } },
    ]);
  });
});

describe('the texts of a row', () => {
  it('come from the row itself: its log, otherwise its trace, otherwise its snippets', async () => {
    expect(
      (await readTexts({ id: 'a', log: 'log', stack_trace: 'trace' }, 'x.jsonl', LIMITS)).sources[0]?.text,
    ).toBe('log');
    expect((await readTexts({ id: 'a', stack_trace: 'trace' }, 'x.jsonl', LIMITS)).sources[0]?.text).toBe(
      'trace',
    );
    expect(
      (await readTexts({ id: 'a', snippets: [{ log: 'one' }, { log: 'two' }] }, 'x.jsonl', LIMITS)).sources[0]
        ?.text,
    ).toBe('one\ntwo');
  });

  it('come from files next to the data set, plain or gzip, with the log of a passed build', async () => {
    const dataset = createFolder({ 'red.log.gz': gzipSync('red'), 'green.log': Buffer.from('green') });
    const row: DatasetRow = { id: 'a', log_path: 'red.log.gz', pass_log_path: 'green.log' };
    expect(await readTexts(row, dataset, LIMITS)).toMatchObject({
      sources: [{ name: 'red.log', text: 'red' }],
      greenText: 'green',
    });
    expect((await readTexts(row, dataset, { ...LIMITS, green: false })).greenText).toBeUndefined();
  });

  it('are several if the row names further logs and reports', async () => {
    const dataset = createFolder({
      'a.log': Buffer.from('red'),
      'b.log.gz': gzipSync('server'),
      'c.xml': Buffer.from('<testsuite/>'),
    });
    const { sources } = await readTexts(
      { id: 'a', log_path: 'a.log', more_log_paths: ['b.log.gz', 'c.xml'] },
      dataset,
      LIMITS,
    );
    expect(sources.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'a.log log',
      'b.log log',
      'c.xml report',
    ]);
  });

  it('are the logs of a build by their names, with its report', async () => {
    const dataset = createFolder({
      'a.log.gz': gzipSync('lint'),
      'b.log': Buffer.from('tests'),
      'c.xml': Buffer.from('<testsuite/>'),
    });
    const logs = [
      { name: 'lint', log_path: 'a.log.gz' },
      { name: 'tests (20)', log_path: 'b.log' },
    ];
    const { sources } = await readTexts({ id: 'a', logs, report_path: 'c.xml' }, dataset, LIMITS);
    expect(sources.map(({ name, kind, text }) => [name, kind, text])).toEqual([
      ['lint', 'log', 'lint'],
      ['tests (20)', 'log', 'tests'],
      ['c.xml', 'report', '<testsuite/>'],
    ]);
  });

  it('are refused if two logs have one name, or if a failure names another log', async () => {
    const log = { name: 'tests', log_path: 'a.log' };
    const failure = { message: 'x', cause: 'c', category: 'CODE_ERROR' as const, log: 'lint' };
    await expect(readTexts({ id: 'a', logs: [log, log] }, createFolder({}), LIMITS)).rejects.toThrow(
      'two of its logs have the same name',
    );
    await expect(
      readTexts({ id: 'a', logs: [log], failures: [failure] }, createFolder({}), LIMITS),
    ).rejects.toThrow('row a, field failures.0.log: "lint" is not the name of one of its logs');
  });

  it('are refused with a sentence if there are none, or too much', async () => {
    await expect(readTexts({ id: 'a' }, 'x.jsonl', LIMITS)).rejects.toThrow(
      'row a has neither logs, log, log_path, stack_trace nor snippets',
    );
    await expect(readTexts({ id: 'a', log_path: 'missing.log' }, createFolder({}), LIMITS)).rejects.toThrow(
      'missing.log',
    );
    const bomb = createFolder({ 'bomb.gz': gzipSync(Buffer.alloc(2_000_000)) });
    await expect(readTexts({ id: 'a', log_path: 'bomb.gz' }, bomb, LIMITS)).rejects.toMatchObject({
      code: 'too-large',
    });
    const many = createFolder({ 'small.gz': gzipSync(Buffer.alloc(400_000, 'x')) });
    const row: DatasetRow = {
      id: 'a',
      log_path: 'small.gz',
      more_log_paths: Array.from({ length: 50 }, () => 'small.gz'),
    };
    await expect(readTexts(row, many, LIMITS)).rejects.toThrow(
      'Row a with small.gz is larger than the limit of',
    );
  });
});

async function read(lines: readonly string[]): Promise<RowOutcome[]> {
  const dataset = createFolder({});
  writeFileSync(dataset, lines.join('\n'));
  const outcomes: RowOutcome[] = [];
  for await (const outcome of readDataset(dataset)) outcomes.push(outcome);
  return outcomes;
}

/** The path of a data set in a folder of its own, with these files beside it. */
function createFolder(files: Readonly<Record<string, Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-dataset-'));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return join(folder, 'cases.jsonl');
}
