import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { type CaseSetSummary, writeCaseSet } from '../../../src/replay/cases/case-set.ts';
import { listConfined, readDataset, readDatasetCases } from '../../../src/replay/cases/dataset.ts';
import { openCases } from '../../../src/replay/cases/folder.ts';
import { beginFolder, createStorageError, type NewFolder } from '../../../src/replay/cases/new-folder.ts';
import { sampleExperiment } from '../../support/sample-analysis.ts';

const SECRET = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
/** Ids whose hashes begin alike. */
const ID_TWINS = ['唭一', '蚹一'];
const never = new AbortController().signal;

describe('a case set', () => {
  it('contains masked rows, logs and labels, and can be read as a data set', async () => {
    const place = placeWith({ 'red.log': `token ${SECRET}\nboom`, 'green.log': 'fine' });
    const rows = [
      {
        id: 'a/1',
        log_path: 'red.log',
        pass_log_path: 'green.log',
        root_cause: `${SECRET} expired`,
        category: 'CONFIG_ERROR',
        annotator: 1,
      },
      { id: 'b', stack_trace: 'at cart.add', experiment: sampleExperiment({ excerpt: `token ${SECRET}` }) },
    ];
    const { summary, out } = await importCases(place, rows);
    expect(summary).toMatchObject({
      cases: 2,
      logs: 2,
      leftOut: 0,
      categories: { CONFIG_ERROR: 1, none: 1 },
    });
    expect(summary.secrets).toBeGreaterThanOrEqual(2);
    const [first, second] = await collectAll(readDataset(join(out, 'cases.jsonl')));
    expect(first).toMatchObject({ row: { id: 'a/1', root_cause: '*** expired' } });
    expect(second).toMatchObject({
      value: { id: 'b', log: 'at cart.add', experiment: { verdict: 'this-change', excerpt: 'token ***' } },
    });
    expect(JSON.stringify(first)).not.toContain('annotator');
    const [one] = await collectAll(await openCases(out));
    const texts =
      one !== undefined && 'one' in one ? await one.one.load({ maxBytes: 1_000, green: true }) : null;
    expect(texts).toMatchObject({ sources: [{ text: 'token ***\nboom' }], greenText: 'fine' });
    for (const file of readdirSync(join(out, 'logs')))
      expect(gunzipSync(readFileSync(join(out, 'logs', file))).toString()).not.toContain(SECRET);
    expect(statSync(out).mode & 0o077).toBe(0);
  });

  it('contains the logs of a build by their names, its report, and its masked failures', async () => {
    const place = placeWith({ 'a.log': 'lint', 'b.log': `token ${SECRET}`, 'c.xml': '<testsuite/>' });
    const logs = ['a', 'b'].map((name) => ({ name, log_path: `${name}.log` }));
    const failures = [
      {
        test: 'signs in',
        message: `token ${SECRET}`,
        log: 'b',
        log_lines: [1, 1],
        cause: 'token',
        category: 'CONFIG_ERROR',
      },
    ];
    const { out } = await importCases(place, [
      { id: 'x', logs, report_path: 'c.xml', failures, runner: 'jest', green: false },
    ]);
    const [one] = await collectAll(await openCases(out));
    const { row, load } = one !== undefined && 'one' in one ? one.one : { row: null, load: null };
    const { log_lines: _, ...failure } = failures[0] ?? {};
    expect(row).toMatchObject({
      failures: [{ ...failure, message: 'token ***', log_lines: [[1, 1]] }],
      runner: 'jest',
      green: false,
    });
    expect((await load?.({ maxBytes: 1_000, green: true }))?.sources).toMatchObject([
      { name: 'a', text: 'lint' },
      { name: 'b', text: 'token ***' },
      { kind: 'report', text: '<testsuite/>' },
    ]);
  });

  it('has the same bytes each time', async () => {
    const place = placeWith({ 'red.log': 'boom' });
    const rows = [{ id: 'x', log_path: 'red.log', category: 'CODE_ERROR' }];
    const bytes = (folder: string) =>
      listFilesIn(folder).map((file) => `${file} ${readFileSync(join(folder, file)).toString('base64')}`);
    expect(bytes((await importCases(place, rows, 'one')).out)).toEqual(
      bytes((await importCases(place, rows, 'two')).out),
    );
  });

  it('lists what is left out, with the reason', async () => {
    const place = placeWith({ 'red.log': 'boom' });
    symlinkSync('/etc/hostname', join(place, 'link.log'));
    const { summary } = await importCases(place, [
      { id: 'ok', log_path: 'red.log' },
      { id: 'bad', category: 'WEATHER', log: 'x' },
      { id: 'missing', log_path: 'no.log' },
      { id: 'ok', log: 'again' },
      { id: 'up', log_path: '../../../../../../etc/hostname' },
      { id: 'away', log_path: '/etc/hostname' },
      { id: 'linked', log_path: 'link.log' },
      { id: SECRET, log: 'x' },
      { id: 'jobs', logs: [{ name: 'a', log_path: '/etc/hostname' }] },
      { id: 'report', log: 'x', report_path: '/etc/hostname' },
    ]);
    expect(summary.cases).toBe(1);
    expect(summary.firstLeftOut.map(({ line, field }) => `${line} ${field}`)).toEqual([
      '2 category',
      '3 null',
      '4 id',
      '5 log_path',
      '6 log_path',
      '7 log_path',
      '8 id',
      '9 logs',
      '10 report_path',
    ]);
    expect(JSON.stringify(summary)).not.toContain(SECRET);
    expect(summary.firstLeftOut[1]?.reason).toContain('no.log is missing');
    expect(summary.firstLeftOut[4]?.reason).toContain('/etc/hostname is outside of');
  });

  it('keeps logs apart whose ids have no plain letters', async () => {
    // Their hashes begin with the same eight digits, as those of some among a hundred thousand do.
    const rows = ID_TWINS.map((id) => ({ id, log_path: `${ID_TWINS.indexOf(id)}.log` }));
    const { out } = await importCases(placeWith({ '0.log': 'first', '1.log': 'second' }), rows);
    const texts: string[] = [];
    for (const outcome of await collectAll(await openCases(out)))
      if ('one' in outcome)
        texts.push((await outcome.one.load({ maxBytes: 1_000, green: false })).sources[0]?.text ?? '');
    expect(texts).toEqual(['first', 'second']);
  });

  it('is written completely or not at all', async () => {
    const place = placeWith({});
    const stopped = new AbortController();
    stopped.abort(new Error('stopped'));
    const out = join(place, 'set');
    writeFileSync(join(place, 'cases.jsonl'), '{"id":"a","log":"x"}\n');
    const cases = readDatasetCases(join(place, 'cases.jsonl'));
    await expect(writeCaseSet(cases, await beginFolder(out), createLimits(), stopped.signal)).rejects.toThrow(
      'stopped',
    );
    expect(readdirSync(place)).toEqual(['cases.jsonl']);
    mkdirSync(out);
    await expect(beginFolder(out)).rejects.toMatchObject({ code: 'conflict' });
    await expect(beginFolder(join(place, 'none', 'set'))).rejects.toMatchObject({ code: 'not-found' });
  });

  it('reports a full disk, and leaves nothing', async () => {
    const place = placeWith({});
    const out = join(place, 'set');
    const folder = await beginFolder(out);
    const full = (path: string) =>
      writeFile('/dev/full', 'x').catch((cause: unknown) => Promise.reject(createStorageError(path, cause)));
    const failing: NewFolder = { ...folder, append: () => full(out) };
    writeFileSync(join(place, 'cases.jsonl'), '{"id":"a","log":"x"}\n');
    const written = writeCaseSet(
      readDatasetCases(join(place, 'cases.jsonl')),
      failing,
      createLimits(),
      never,
    );
    await expect(written).rejects.toMatchObject({
      code: 'storage-failed',
      message: `${out} cannot be written: the disk is full. Nothing was left behind.`,
    });
    expect(existsSync(out)).toBe(false);
    expect(readdirSync(place)).toEqual(['cases.jsonl']);
  });
});

async function importCases(
  place: string,
  rows: readonly object[],
  name = 'set',
): Promise<{ summary: CaseSetSummary; out: string }> {
  const dataset = join(place, 'rows.jsonl');
  writeFileSync(dataset, rows.map((row) => JSON.stringify(row)).join('\n'));
  const out = join(place, name);
  return {
    out,
    summary: await writeCaseSet(
      listConfined(readDatasetCases(dataset), dataset, place),
      await beginFolder(out),
      createLimits(),
      never,
    ),
  };
}

function createLimits() {
  return { masker: createMasker(), maxLogBytes: 1_000_000 };
}

function placeWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-set-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function listFilesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function collectAll<T>(values: AsyncIterable<T>): Promise<T[]> {
  const held: T[] = [];
  for await (const value of values) held.push(value);
  return held;
}
