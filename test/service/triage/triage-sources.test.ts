import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTerminalApp, type TerminalApp } from '../../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import type { Analysis } from '../../../src/domain/analysis.ts';
import type { SourceText } from '../../../src/domain/build.ts';
import { wrapBytes } from '../../../src/log/lines/bytes.ts';
import type { LogInPieces } from '../../../src/log/read-log.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { sampleBuild } from '../../support/sample-analysis.ts';

const HOME = resolve(import.meta.dirname, '../../..');
const FAILED = readFileSync(join(HOME, 'test/fixtures/failures/registry-unavailable/log.txt'), 'utf8');

let app: TerminalApp;
beforeAll(async () => {
  app = await createTerminalApp(
    parseConfig(createEmbeddedPreset('.faultline', join(HOME, 'knowledge'))),
    silentLogger,
  );
});

const triage = (source: SourceText | LogInPieces, maskedSecrets = 0) =>
  app.triage(sampleBuild(), [source], AbortSignal.timeout(30_000), { maskedSecrets });

/** Without what differs from run to run. */
function selectEssence({ category, answer, verdict, evidence, reduction }: Analysis) {
  return { category, answer, verdict, evidence, reduction };
}

function maskInPieces(text: string): LogInPieces {
  return { name: 'build.log', kind: 'log', bytes: wrapBytes(Buffer.from(text)), notes: [] };
}

describe('a log in pieces', () => {
  it('gets the same answer as its text, from the same lines', async () => {
    const quiet = Array.from(
      { length: 3_000 },
      (_, index) => `-- Looking for header-${index}.h - found\n`,
    ).join('');
    const text = `${quiet}${FAILED.endsWith('\n') ? FAILED : `${FAILED}\n`}${quiet}`;
    const [held, pieces] = await Promise.all([
      triage({ name: 'build.log', kind: 'log', text, notes: [] }),
      triage(maskInPieces(text), 2),
    ]);

    expect(pieces.analyses.map(selectEssence)).toEqual(held.analyses.map(selectEssence));
    expect(pieces.reading).toEqual({ ...held.reading, maskedSecrets: 2 });
    const stored = text.split('\n');
    const quotes = pieces.analyses
      .flatMap(({ answer }) => answer.claims.flatMap((claim) => claim.quotes))
      .filter(({ source }) => source === 'build.log');
    expect(quotes.length).toBeGreaterThan(0);
    for (const { line, text: quoted } of quotes) expect(stored[line - 1]).toContain(quoted);
  });
});
