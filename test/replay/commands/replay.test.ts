import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFaultline } from '../../cli/faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-cli-replay-'));

describe('replay', () => {
  it('prints a table, writes one row per case in order, and continues after an invalid row', async () => {
    const dataset = writeDataset([
      '{"id":"a","log":"building\\nError: boom\\n","expected_lines":[[2,2]]}',
      'no json',
      '{"id":"c","log":"E   assert 1 == 2\\n"}',
    ]);
    const out = join(FOLDER, 'results.jsonl');
    const ended = await runFaultline(['replay', '--dataset', dataset, '--only', 'read', '--out', out]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^ +cases +3 +n=3$/m);
    expect(ended.stdout).toMatch(/^ +cases that failed +1 +n=3 {2}← look here$/m);
    expect(ended.stdout).toMatch(/^ +recall of labelled lines +1\.000 +n=1$/m);
    expect(readIds(out)).toEqual(['a', 'line-2', 'c']);
  });

  it('prints one table per data set, or one JSON line on request', async () => {
    const sets = [
      writeDataset(['{"id":"a","log":"Error: boom\\n"}']),
      writeDataset(['{"id":"b","log":"Error: bang\\n"}']),
    ];
    const tables = await runFaultline(['replay', '--dataset', ...sets, '--only', 'read']);
    expect(tables.stdout.match(/^cases\.jsonl: reading alone/gm)).toHaveLength(2);
    const json = await runFaultline(['replay', '--dataset', ...sets, '--only', 'read', '--json']);
    const lines = json.stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).dataset)).toEqual(sets);
    expect(JSON.parse(lines[0] ?? '').figures[0]).toEqual({
      section: 'cases',
      name: 'cases',
      value: 1,
      cases: 1,
    });
  });

  it('71: stores a run under a name, with the labels of its cases, and never overwrites another', async () => {
    const dataset = writeDataset(['{"id":"a","log":"Error: boom\\n","category":"CODE_ERROR"}']);
    const data = mkdtempSync(join(FOLDER, 'data-'));
    const keep = ['replay', '--dataset', dataset, '--only', 'read', '--data', data, '--keep'];
    expect((await runFaultline([...keep, 'now'])).code).toBe(0);
    expect(readIds(join(data, 'runs/now/results.jsonl'))).toEqual(['a']);
    expect(readFileSync(join(data, 'runs/now/cases.jsonl'), 'utf8')).toBe(
      '{"id":"a","category":"CODE_ERROR"}\n',
    );
    expect(readFileSync(join(data, 'runs/now/results.jsonl.run.json'), 'utf8')).toContain('"cases": 1');
    expect((await runFaultline([...keep, 'now'])).stderr).toContain(
      '--keep: there is a run named now already. Choose another name.',
    );
    expect((await runFaultline([...keep, '../now'])).stderr).toContain(
      '--keep: "../now" is no name for a run',
    );
  });

  it('uses the experiments of cases, and compares them with the text alone, as documented', async () => {
    const dataset = join(import.meta.dirname, '../../fixtures/experiments/cases.jsonl');
    const page = readFileSync(join(import.meta.dirname, '../../../docs/how-to/experiments.md'), 'utf8');
    const [, shown = ''] = /^experiments\n((?: {2}.*\n)+)```/m.exec(page) ?? [];
    const { stdout } = await runFaultline(['replay', '--dataset', dataset]);
    expect(shown.split('\n')).toHaveLength(7);
    expect(stdout.replaceAll(/ {2}← look here$/gm, '')).toContain(`\nexperiments\n${shown}`);
  });

  it('fails if the model answered nothing, and states how many cases the rules answered', async () => {
    const dataset = writeDataset(['{"id":"a","log":"Error: boom\\n"}', '{"id":"b","log":"Error: bang\\n"}']);
    const away = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'none', OPENAI_MODEL: 'away-1' };
    const ended = await runFaultline(['replay', '--dataset', dataset, '--analyst', 'llm'], { env: away });
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain('The model away-1 did not answer 2 of 2 cases; the rules did.');
  }, 60_000);

  it('accepts a folder of logs, a sample of it, and writes one test case per case', async () => {
    const folder = mkdtempSync(join(FOLDER, 'logs-'));
    for (const name of ['a.log', 'b.log', 'c.log']) writeFileSync(join(folder, name), 'Error: boom <&>\n');
    const junit = join(FOLDER, 'junit.xml');
    const ended = await runFaultline([
      'replay',
      '--logs',
      folder,
      '--sample',
      '2',
      '--only',
      'read',
      '--junit',
      junit,
    ]);
    expect(ended.stdout).toMatch(/^ +cases +2 +n=2$/m);
    expect(readFileSync(junit, 'utf8')).toMatch(
      /<testsuite name="logs-[^"]{1,60}" tests="2" failures="0" errors="0"/,
    );
  });

  it('continues an interrupted run, and refuses to continue a different one', async () => {
    const rows = Array.from({ length: 6 }, (_, index) =>
      JSON.stringify({ id: `case-${index}`, log: `Error: boom ${index}\n` }),
    );
    const dataset = writeDataset(rows);
    const out = join(FOLDER, 'resumed.jsonl');
    const args = ['replay', '--dataset', dataset, '--only', 'read', '--out', out];
    const stopped = await runFaultline([...args, '--max-minutes', '0.000001', '--concurrency', '1']);
    expect(stopped).toMatchObject({ code: 13 });
    expect(stopped.stderr).toMatch(/Not all cases were replayed: 0.000001 minutes passed/);
    writeFileSync(out, `${readFileSync(out, 'utf8').split('\n').slice(0, 2).join('\n')}{"id":"case-torn`);
    const resumed = await runFaultline([...args, '--resume', '--json']);
    expect(resumed.code).toBe(0);
    expect(JSON.parse(resumed.stdout).figures[0]).toMatchObject({ name: 'cases', value: 6 });
    expect(readIds(out)).toEqual(rows.map((row) => JSON.parse(row).id));
    const other = await runFaultline([...args, '--resume', '--budget', '500']);
    expect(other).toMatchObject({ code: 4, stdout: '' });
    expect(other.stderr).toMatch(
      /belongs to another run: budget in tokens was 2000, now it is 500\. Replay it again without --resume/,
    );
  });

  it('replays the same cases again, one file each, and states their differences', async () => {
    const out = join(FOLDER, 'again.jsonl');
    const dataset = writeDataset(['{"id":"a","log":"Error: boom\\n"}']);
    const ended = await runFaultline([
      'replay',
      '--dataset',
      dataset,
      '--only',
      'read',
      '--repeat',
      '2',
      '--out',
      out,
    ]);
    expect(ended.stdout).toMatch(/1 of 1 cases are put into the same category each time/);
    expect([readIds(out.replace('.jsonl', '.1.jsonl')), readIds(out.replace('.jsonl', '.2.jsonl'))]).toEqual([
      ['a'],
      ['a'],
    ]);
  });

  it.each([
    [
      'a missing data set',
      ['--dataset', join(FOLDER, 'none.jsonl')],
      /none\.jsonl is neither a file nor a case set/,
    ],
    ['a directory', ['--dataset', FOLDER], /is neither a file/],
    [
      'a full disk',
      ['--dataset', writeDataset(['{"id":"a","log":"x"}']), '--out', '/dev/full'],
      /the disk is full/,
      4,
    ],
    ['a report without a place', ['--dataset', writeDataset(['{}']), '--junit', FOLDER], /it is a folder/],
    ['no cases named', [], /Choose the cases/, 2],
    ['nothing to go on with', ['--dataset', writeDataset(['{}']), '--resume'], /name it with --out/, 2],
    ['an empty data set', ['--dataset', writeDataset(['', ''])], /contains no cases/],
    [
      'a place that cannot be written',
      ['--dataset', writeDataset(['{}']), '--out', join(FOLDER, 'no/where')],
      /cannot be written/,
    ],
  ])('ends with a sentence and an error code for %s', async (_name, args, sentence, code = 3) => {
    const ended = await runFaultline(['replay', ...args, '--only', 'read']);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toMatch(sentence);
  });
});

function readIds(path: string): string[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).id);
}

function writeDataset(lines: readonly string[]): string {
  const path = join(mkdtempSync(join(FOLDER, 'set-')), 'cases.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}
