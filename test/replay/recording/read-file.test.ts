import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRecordingsIn } from '../../../src/replay/recording/read-recordings.ts';
import { recordRun } from '../../support/recorded-run.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-recordings-'));

test('a log may contain the line separators of Unicode, and a recording is still one line of the file', async () => {
  const recording = await recordRun();
  const odd = { ...recording, missing: ['one\u2028two\u2029three'] };
  const path = join(FOLDER, 'separators.jsonl');
  writeFileSync(path, `\ufeff${JSON.stringify(odd)}\r\n\n${JSON.stringify(recording)}\nno json`);
  const read: unknown[] = [];
  for await (const recordingSource of readRecordingsIn(path))
    read.push('error' in recordingSource ? recordingSource.name : recordingSource.recording.missing);
  expect(read).toEqual([odd.missing, recording.missing, 'line 4']);
});
