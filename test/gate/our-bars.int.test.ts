import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const HOME = resolve(import.meta.dirname, '../..');
const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-our-bars-'));
const RESULTS = join(FOLDER, 'results.jsonl');
const BARS = 'test/gate/bars.json';

const Line = z.looseObject({ id: z.string(), category: z.string() });

describe('our own bars', () => {
  it('are met by the rules analyst on the captured failures', async () => {
    const ended = await replay('test/fixtures/failures', '--out', RESULTS);
    expect(ended.stdout).toMatch(/^gate test\/gate\/bars\.json: passed, (\d+) of \1 bars held$/m);
    expect(ended.code).toBe(0);
  });

  it('are missed if one failure of the code is attributed to the machine and published', async () => {
    const lines = readFileSync(RESULTS, 'utf8').trimEnd().split('\n');
    const at = lines.findIndex((line) => line.includes('"receipt-snapshot"'));
    const worse = {
      ...Line.parse(JSON.parse(lines[at] ?? '')),
      category: 'INFRA_ERROR',
      kind: 'network',
      action: 'auto_notify',
      confidence: 0.95,
    };
    writeFileSync(
      RESULTS,
      lines
        .with(at, JSON.stringify(worse))
        .map((line) => `${line}\n`)
        .join(''),
    );
    // Every case is taken from the file, as if an interrupted run had answered it.
    const ended = await replay('test/fixtures/failures', '--out', RESULTS, '--resume');
    expect(ended.code).toBe(12);
    expect(ended.stdout).toMatch(/^gate test\/gate\/bars\.json: FAILED, \d+ of \d+ bars held$/m);
    const missed = Array.from(
      ended.stdout.matchAll(/^ +FAILED +failures: ([a-z:, -]+) is /gm),
      ([, figure]) => figure,
    );
    expect(missed).toEqual([
      'real failures called infrastructure or flaky',
      'confident errors',
      'answer: confident errors',
      'published and wrong',
    ]);
    expect(ended.stdout).toContain('Why: The worst mistake there is');
    expect(ended.stdout).toContain('Look at: receipt-snapshot');
  });

  it('are missed if the expected answers are absent', async () => {
    const folder = join(FOLDER, 'failures');
    mkdirSync(folder);
    writeFileSync(join(folder, 'log.txt'), 'Error: boom\n');
    const ended = await replay(folder);
    expect(ended.code).toBe(12);
    expect(ended.stdout).toContain('failures has no labels');
    expect(ended.stdout).toContain('there is no figure "category macro-F1"');
  });
});

/** The command itself, in an environment without its settings; a machine with much to do may take its time. */
function replay(logs: string, ...more: string[]): Promise<{ code: number; stdout: string }> {
  const args = [
    join(HOME, 'src/cli/main.ts'),
    'replay',
    '--logs',
    logs,
    '--analyst',
    'rules',
    '--gate',
    BARS,
    ...more,
  ];
  const { PATH = '', HOME: home = '' } = process.env;
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      args,
      { cwd: HOME, env: { PATH, HOME: home }, timeout: 110_000 },
      (_error, stdout) => done({ code: child.exitCode ?? -1, stdout }),
    );
  });
}
