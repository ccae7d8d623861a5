import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRecordingsFile } from '../../../src/replay/commands/recordings-command.ts';
import { runFaultline } from '../../cli/faultline.ts';
import { recordRun } from '../../support/recorded-run.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-recordings-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('replay records what replay --frozen runs again, and reports the first difference of a changed recording', {
  timeout: 60_000,
}, async () => {
  const [dataset, recorded] = [join(folder, 'cases.jsonl'), join(folder, 'recordings.jsonl')];
  await writeFile(
    dataset,
    `${JSON.stringify({ id: 'one', log: 'src/a.ts(1,7): error TS2322: Type is not assignable.\nexit code 2', category: 'CODE_ERROR' })}\n`,
  );
  await runFaultline(['replay', '--dataset', dataset, '--record', recorded]);
  const same = await runFaultline(['replay', '--frozen', recorded]);
  expect(same.stdout).toMatch(/^1 run: 1 identical, in [\d.]+ s\n$/);

  const recording = JSON.parse(await readFile(recorded, 'utf8'));
  recording.judgements[0].reply.value.kind = 'crash\u001b[2J';
  await writeFile(recorded, `${JSON.stringify(recording)}\n`);
  // The answer of today is what it was, and the rules are not: that is no identical run.
  expect((await runFaultline(['replay', '--frozen', recorded])).code).toBe(12);
  await writeFile(recorded, `${JSON.stringify(recording)}\nno json\n`);
  const other = await runFaultline(['replay', '--frozen', recorded]);
  expect(other.code).toBe(12);
  expect(other.stdout).toContain('first: the rules decide differently in classify: kind "crash');
  expect(other.stdout).not.toContain('\u001b');
  expect(other.stdout).toContain('line 2: ');
  expect(other.stdout).toContain(
    '2 runs: 0 identical, 1 byte-identical answer by another path, 1 unreadable',
  );
});

test('a file of recordings continues after its last complete line, and is readable only by its owner', async () => {
  const path = join(folder, 'recordings.jsonl');
  const first = await openRecordingsFile(path);
  await first.add(await recordRun());
  await first.close();
  await appendFile(path, '{"cut');
  const file = await openRecordingsFile(path, true);
  await file.add(await recordRun());
  await file.close();
  const lines = (await readFile(path, 'utf8')).split('\n');
  expect(lines.map((line) => line.slice(0, 11))).toEqual(['{"schema":1', '{"schema":1', '']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a full disk costs recordings but no case, and sets the exit code', {
  timeout: 60_000,
}, async () => {
  const dataset = join(folder, 'cases.jsonl');
  const log = 'src/a.ts(1,7): error TS2322: Type is not assignable.\nexit code 2';
  await writeFile(
    dataset,
    ['one', 'two'].map((id) => `${JSON.stringify({ id, log, category: 'CODE_ERROR' })}\n`).join(''),
  );
  const ended = await runFaultline(['replay', '--dataset', dataset, '--record', '/dev/full']);
  expect(ended.stdout).toMatch(/^ {2}cases that failed +0 /m);
  expect(ended.stderr).toContain('--record: /dev/full cannot be written further: the disk is full.');
  expect(ended.code).toBe(4);
});
