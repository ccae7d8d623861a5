import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openToday } from '../../../src/app/open-today.ts';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { getDataDirectory, readConfig } from '../../../src/cli/settings.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { openRecordingsFile } from '../../../src/replay/commands/recordings-command.ts';

import { readRecordingsIn } from '../../../src/replay/recording/read-recordings.ts';
import { runFrozen } from '../../../src/replay/recording/run-frozen.ts';

const FAILURES = resolve(import.meta.dirname, '../../../test/fixtures/failures');

export interface FrozenFigures {
  readonly runs: number;
  readonly identical: number;
  /**
   * The total milliseconds of answering without recording, with recording, and of running the recordings
   * again.
   */
  readonly plainMs: number;
  readonly recordedMs: number;
  readonly frozenMs: number;
  /** The size of the file in bytes. */
  readonly bytes: number;
}

/**
 * Answers captured failures by rules until there are `runs` runs, alternately with and without recording.
 * Then runs all recordings again.
 */
export async function benchFrozen(runs: number): Promise<FrozenFigures> {
  const config = readConfig(getDataDirectory(undefined), { FAULTLINE_ANALYST: 'rules' });
  const app = await createTerminalApp(config, silentLogger);
  const never = new AbortController().signal;
  const logs = readdirSync(FAILURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const texts = logs.map(({ name }) => readFileSync(join(FAILURES, name, 'log.txt'), 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'faultline-frozen-'));
  try {
    const path = join(folder, 'recordings.jsonl');
    const file = await openRecordingsFile(path);
    let [plainMs, recordedMs, bytes] = [0, 0, 0];
    for (let run = 0; run < runs; run++) {
      const build = {
        ...createSparseBuild({ repository: 'bench/bench', pipeline: 'ci', number: `${run}` }),
        id: `bld_${run}`,
        receivedAt: new Date(0).toISOString(),
      };
      const sources = [
        { name: 'log.txt', kind: 'log' as const, text: texts[run % texts.length] ?? '', notes: [] },
      ];
      const answer = async (record: boolean) => {
        const startedAt = performance.now();
        const { recordings } = await app.triage(build, sources, never, { maxGroups: 1, record });
        return { recordings, milliseconds: performance.now() - startedAt };
      };
      // The order alternates, so that neither way always benefits from warm caches.
      const [first, second] = [await answer(run % 2 === 0), await answer(run % 2 === 1)];
      recordedMs += run % 2 === 0 ? first.milliseconds : second.milliseconds;
      plainMs += run % 2 === 0 ? second.milliseconds : first.milliseconds;
      for (const recording of [...first.recordings, ...second.recordings]) {
        bytes += JSON.stringify(recording).length;
        await file.add(recording);
      }
    }
    await file.close();
    const today = await openToday(config, 'configured');
    let identical = 0;
    const startedAt = performance.now();
    for await (const source of readRecordingsIn(path)) {
      if ('recording' in source && (await runFrozen(source.recording, today, never)).identical)
        identical += 1;
    }
    return { runs, identical, plainMs, recordedMs, frozenMs: performance.now() - startedAt, bytes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
