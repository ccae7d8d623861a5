import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCaseSources } from '../../../src/replay/commands/case-sources.ts';
import { runFaultline } from '../../cli/faultline.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-case-sources-'));
const SET = join(FOLDER, 'set');
const LOGS = join(FOLDER, 'logs');
mkdirSync(SET);
mkdirSync(LOGS);
const rows = ['CODE_ERROR', 'INFRA_ERROR'].map((category, at) =>
  JSON.stringify({ id: `case-${at}`, log: 'Error: boom\n', category }),
);
writeFileSync(join(SET, 'cases.jsonl'), `${rows.join('\n')}\n`);
writeFileSync(join(LOGS, 'a.log'), 'Error: boom\n');
const asked = { concurrency: 1, green: true };

describe('a source of cases', () => {
  it('may be a case set, read as a data set by its folder', async () => {
    const { sources } = await openCaseSources({ ...asked, dataset: [SET] });
    expect(sources.map(({ name, path }) => [name, path])).toEqual([['set', SET]]);
    expect(await sources[0]?.measure()).toMatchObject({ cases: 2 });
  });

  it.each([
    ['none', {}, /--reviewed or --stored for your own/],
    ['two kinds', { dataset: [SET], stored: true as const }, /Choose only one of/],
    [
      'a filter of stored failures beside others',
      { logs: [LOGS], branch: 'main' },
      /--branch filters stored failures/,
    ],
    [
      'a category that is none',
      { reviewed: true as const, category: 'NOPE' },
      /--category: "NOPE" is not a category/,
    ],
    ['a folder of logs as a data set', { dataset: [LOGS] }, /is neither a file nor a case set/],
  ])('is refused with a sentence before anything is opened: %s', async (_name, options, sentence) => {
    await expect(openCaseSources({ ...asked, ...options })).rejects.toThrow(sentence);
  });
});

describe('replay --by', () => {
  it('adds one row per slice to the main figures, or a note if there is only one', async () => {
    const by = (what: string) => runFaultline(['replay', '--dataset', SET, '--only', 'read', '--by', what]);
    expect((await by('category')).stdout).toMatch(
      /^by category\n.*\n {2}CODE_ERROR +1 .*n=1\n {2}INFRA_ERROR +1 .*n=1$/m,
    );
    expect((await by('source')).stderr).toContain('--by source: all cases have the same source.');
  });
});
