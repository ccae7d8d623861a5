import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CaseOutcome, ReplayCase } from '../../../src/replay/cases/case.ts';
import { listFolderCases } from '../../../src/replay/cases/folder.ts';

const LIMITS = { maxBytes: 1_000_000, green: true };
const CAPTURED = resolve(import.meta.dirname, '../../fixtures/failures');

describe('a folder of logs', () => {
  it('gives each file as a case, by name, labeled by its parent folders', async () => {
    const outcomes = await selectCases({
      'b.log': 'boom',
      'a.log.gz': gzipSync('bang'),
      'infra-error/shop/x.log': 'no route',
      'shop/CODE_ERROR/x.log': 'oops',
      'README.md': 'words',
      '.keep': '',
    });
    expect(selectGood(outcomes).map(({ row }) => [row.id, row.project, row.category ?? null])).toEqual([
      ['a.log.gz', 'a.log.gz', null],
      ['b.log', 'b.log', null],
      ['infra-error/shop/x.log', 'shop', 'INFRA_ERROR'],
      ['shop/CODE_ERROR/x.log', 'shop', 'CODE_ERROR'],
    ]);
    const [first] = selectGood(outcomes);
    expect(await first?.load(LIMITS)).toMatchObject({
      sources: [{ name: 'a.log', text: 'bang' }],
      greenText: undefined,
    });
  });

  it('takes the label of a log from the file next to it, before the folder', async () => {
    const truth = {
      category: 'CONFIG_ERROR',
      also_ok: ['INFRA_ERROR'],
      happened_at: '2026-01-02T03:04:05Z',
      project: 'till',
      log: 'no',
    };
    const outcomes = await selectCases({
      'CODE_ERROR/x.log': 'x',
      'CODE_ERROR/x.truth.json': JSON.stringify(truth),
    });
    const { log: _log, ...kept } = truth;
    expect(outcomes).toEqual([
      { line: 1, one: { row: { ...kept, id: 'CODE_ERROR/x.log' }, load: expect.any(Function) } },
    ]);
  });

  it('takes a folder with a label as one case: log, then reports, then the log of a passed build', async () => {
    const [one] = selectGood(
      await selectCases({
        'tax/truth.json': JSON.stringify({
          category: 'TEST_FAILURE',
          mustCite: [[1, 2]],
          failingTests: [{ name: 'sums' }],
          cause: 'off by one',
        }),
        'tax/a-report.xml': '<testsuite><testcase name="sums"/></testsuite>',
        'tax/log.txt': 'red',
        'tax/green.log.txt': 'green',
      }),
    );
    expect(one?.row).toMatchObject({
      id: 'tax',
      category: 'TEST_FAILURE',
      expected_lines: [[1, 2]],
      failing_tests: ['sums'],
      root_cause: 'off by one',
    });
    const texts = await one?.load(LIMITS);
    expect(texts?.sources.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'log.txt log',
      'a-report.xml report',
    ]);
    expect(texts?.greenText).toBe('green');
    expect((await one?.load({ ...LIMITS, green: false }))?.greenText).toBeUndefined();
  });

  it('reports a label that cannot be read, and continues', async () => {
    const outcomes = await selectCases({
      'a/truth.json': '{"category":"WEATHER"}',
      'b/truth.json': 'not json',
      'c/truth.json': '[]',
      'd/truth.json': '{"mustCite":[[0,1]]}',
      'e.log': 'x',
    });
    expect(
      outcomes.map((outcome) =>
        'error' in outcome ? `${outcome.line} ${outcome.id}: ${outcome.error}` : outcome.one.row.id,
      ),
    ).toEqual([
      'e.log',
      '2 a: truth.json, field category: "WEATHER" is not a category; use one of CODE_ERROR, INFRA_ERROR, CONFIG_ERROR, DEPENDENCY_ERROR, TEST_FAILURE',
      expect.stringMatching(/^3 b: truth\.json is not JSON: /),
      '4 c: truth.json is not a JSON object',
      expect.stringMatching(/^5 d: truth\.json, field mustCite\.0\.0: /),
    ]);
  });

  it('follows no links, reads no log above the limit, and reports a case without a log', async () => {
    const root = createFolder({ 'big.log': 'x'.repeat(2_000), 'empty/truth.json': '{}' });
    symlinkSync('/etc', join(root, 'elsewhere'));
    symlinkSync('/etc/hostname', join(root, 'host.log'));
    const [big, empty, ...rest] = selectGood(await collectOutcomes(listFolderCases(root)));
    expect(rest).toEqual([]);
    await expect(big?.load({ ...LIMITS, maxBytes: 1_000 })).rejects.toMatchObject({ code: 'too-large' });
    await expect(empty?.load(LIMITS)).rejects.toThrow('The folder of empty contains no log');
    await expect(collectOutcomes(listFolderCases(join(root, 'nowhere')))).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('includes our captured failures', async () => {
    const cases = selectGood(await collectOutcomes(listFolderCases(CAPTURED)));
    expect(cases.length).toBeGreaterThanOrEqual(70);
    expect(
      cases.every(({ row }) => row.category != null && row.expected_lines != null && row.root_cause != null),
    ).toBe(true);
    const withGreen = await Promise.all(cases.map((replayCase) => replayCase.load(LIMITS)));
    expect(withGreen.filter(({ greenText }) => greenText !== undefined).length).toBeGreaterThan(3);
    expect(withGreen.every(({ sources }) => sources[0]?.name === 'log.txt')).toBe(true);
  });
});

async function selectCases(files: Readonly<Record<string, string | Buffer>>): Promise<CaseOutcome[]> {
  return collectOutcomes(listFolderCases(createFolder(files)));
}

async function collectOutcomes(outcomes: AsyncIterable<CaseOutcome>): Promise<CaseOutcome[]> {
  const all: CaseOutcome[] = [];
  for await (const outcome of outcomes) all.push(outcome);
  return all;
}

function selectGood(outcomes: readonly CaseOutcome[]): ReplayCase[] {
  return outcomes.flatMap((outcome) => ('one' in outcome ? [outcome.one] : []));
}

function createFolder(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-folder-'));
  for (const [name, held] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), held);
  }
  return folder;
}
