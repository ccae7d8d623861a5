import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceText } from '../../src/domain/build.ts';
import { TriageError } from '../../src/domain/errors.ts';
import type { LogPosition } from '../../src/domain/failure.ts';
import type { Reading } from '../../src/domain/reading.ts';
import { decodeSources } from '../../src/log/decode/archive.ts';
import { decodeSource } from '../../src/log/decode/decode.ts';
import { openFileBytes, wrapBytes } from '../../src/log/lines/bytes.ts';
import { stripEscapes } from '../../src/log/lines/clean.ts';
import { MAX_RAW, openText } from '../../src/log/lines/lines.ts';
import { maskFile } from '../../src/log/mask/file.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { readSources } from '../../src/log/read-sources.ts';
import { trimStoredLine } from '../../src/log/reduce/reduce.ts';
import { countTokens } from '../../src/log/reduce/tokens.ts';
import { runs } from '../support/thorough.ts';
import { anyBytes, anyLog } from './log-pieces.ts';
import { SECRETS } from './mask/secrets.ts';

const anyBudget = fc.integer({ min: 1, max: 20_000 });
const someLogs = fc.array(anyLog, { minLength: 1, maxLength: 3, size: 'max' });
const FILE = join(mkdtempSync(join(tmpdir(), 'faultline-reading-')), 'build.log');

const log = (text: string, name = 'build.log'): SourceText => ({ name, kind: 'log', text, notes: [] });
const logs = (texts: readonly string[]) => texts.map((text, at) => log(text, `${at}.log`));
const pieces = (bytes: Uint8Array) => ({
  name: 'build.log',
  kind: 'log' as const,
  bytes: wrapBytes(bytes),
  notes: [],
});

/** The part of a stored line that an excerpt shows: of a very long one, only the beginning is read. */
function showLine(line: string): string {
  if (3 * line.length <= MAX_RAW) return trimStoredLine(line);
  const read = openText(line).raw(1);
  expect(line.startsWith(read)).toBe(true);
  return trimStoredLine(read);
}

/** Everything a reading promises of the places it names. */
function expectPointsRight(reading: Reading, sources: readonly SourceText[]): void {
  const lines = new Map(sources.map(({ name, text }) => [name, text.split('\n')]));
  const ends = new Map<string, number>();
  for (const { source, lineStart, lineEnd, text } of reading.excerpts) {
    expect(lineEnd).toBeGreaterThanOrEqual(lineStart);
    expect(lineStart).toBeGreaterThan(ends.get(source) ?? 0);
    ends.set(source, lineEnd);
    expect(text.split('\n')).toEqual((lines.get(source) ?? []).slice(lineStart - 1, lineEnd).map(showLine));
  }
  for (const { source, line } of listPlaces(reading)) {
    expect(line).toBeGreaterThanOrEqual(1);
    expect(line).toBeLessThanOrEqual(lines.get(source)?.length ?? 0);
  }
  for (const { lineStart, lineEnd } of reading.failedSections)
    expect(lineEnd).toBeGreaterThanOrEqual(lineStart);
  expect(reading.sources.map(({ name, lines: count }) => [name, count])).toEqual(
    [...lines].map(([name, all]) => [name, all.length]),
  );
}

function listPlaces(reading: Reading): LogPosition[] {
  const { failingTests, diagnostics, exceptions, messages, exits, failedSections } = reading;
  const placed = [failingTests, diagnostics, exceptions, messages].flatMap((all) => all.map(({ at }) => at));
  return [
    ...placed.filter((at) => at !== null),
    ...exits,
    ...failedSections.flatMap(({ source, lineStart, lineEnd }) =>
      [lineStart, lineEnd].map((line) => ({ source, line })),
    ),
  ];
}

function expectWithin(reading: Reading, budgetTokens: number): void {
  expect(reading.tokens).toBe(
    reading.excerpts.reduce((sum, { text }) => sum + countTokens(stripEscapes(text)), 0),
  );
  expect(reading.tokens).toBeLessThanOrEqual(budgetTokens);
}

describe('the reading of any logs', () => {
  it('refers only to stored lines, in order and without overlap, within its budget', () => {
    fc.assert(
      fc.property(someLogs, anyBudget, (texts, budgetTokens) => {
        const reading = readSources(logs(texts), { budgetTokens });
        expectPointsRight(reading, logs(texts));
        expectWithin(reading, budgetTokens);
      }),
      { numRuns: runs(100) },
    );
  });

  it('does so too if it is compared with a passed build', () => {
    fc.assert(
      fc.property(someLogs, anyLog, fc.boolean(), anyBudget, (texts, green, isAlike, budgetTokens) => {
        const greenText = isAlike ? `${green}\n${texts[0]?.slice(0, 2_000)}` : green;
        const reading = readSources(logs(texts), { budgetTokens, greenText });
        expectPointsRight(reading, logs(texts));
        expectWithin(reading, budgetTokens);
      }),
      { numRuns: runs(100) },
    );
  });

  it('ends an excerpt between two characters if a line of 256 KiB is cut', () => {
    for (const ending of ['status 1', '🚨🚨🚨']) {
      const text = `${'\u001b[31m'.repeat(52_427)}Error: ${ending}`;
      expectPointsRight(readSources([log(text)], { budgetTokens: 1_000 }), [log(text)]);
    }
  });

  it('is the same each time, whatever was read in between', () => {
    fc.assert(
      fc.property(someLogs, someLogs, anyBudget, (texts, others, budgetTokens) => {
        const first = readSources(logs(texts), { budgetTokens });
        readSources(logs(others), { budgetTokens: 700, greenText: texts[0] ?? '' });
        expect(readSources(logs(texts), { budgetTokens })).toEqual(first);
      }),
      { numRuns: runs(100) },
    );
  });

  it('is the same from text, from bytes, and from a file read in pieces', () => {
    fc.assert(
      fc.property(anyLog, anyBudget, (text, budgetTokens) => {
        const ofText = readSources([log(text)], { budgetTokens });
        const bytes = Buffer.from(text);
        writeFileSync(FILE, bytes);
        const file = openFileBytes(FILE);
        try {
          expect(readSources([pieces(bytes)], { budgetTokens })).toEqual(ofText);
          expect(readSources([{ ...pieces(bytes), bytes: file }], { budgetTokens })).toEqual(ofText);
        } finally {
          file.close();
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('is the same if the log is masked in its file', async () => {
    const planted = fc.oneof(...Object.values(SECRETS)).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(
        anyLog,
        fc.option(planted, { nil: '' }),
        anyBudget,
        async (text, secret, budgetTokens) => {
          const whole = `a log\n${text}\n${secret}\n${text.slice(0, 500)}`
            .replaceAll('\0', '')
            .toWellFormed();
          writeFileSync(FILE, whole);
          const masker = createMasker();
          const masked = await masker.mask(whole);
          const file = await maskFile(FILE, masker);
          // Control characters enough make it binary: that is for those who decode.
          if (file === null) return;
          try {
            expect(file.secrets).toBe(masked.count);
            expect(readSources([{ ...pieces(Buffer.of()), bytes: file.bytes }], { budgetTokens })).toEqual(
              readSources([log(masked.text)], { budgetTokens }),
            );
          } finally {
            file.close();
          }
        },
      ),
      { numRuns: runs(80) },
    );
  });

  it('contains no secret that was masked before', async () => {
    const planted = fc.oneof(...Object.values(SECRETS));
    const masker = createMasker();
    await fc.assert(
      fc.asyncProperty(anyLog, planted, anyLog, async (before, [head, secret, rest], after) => {
        const { text } = await masker.mask(`${before}\nError: ${head}${secret}${rest}\n${after}`);
        const reading = readSources([log(text)], { budgetTokens: 20_000 });
        expect(JSON.stringify(reading)).not.toContain(JSON.stringify(secret).slice(1, -1));
      }),
      { numRuns: runs(80) },
    );
  });
});

describe('the reading of any bytes', () => {
  it('never throws, and refers to lines of the decoded text', () => {
    fc.assert(
      fc.property(anyBytes, anyBudget, (bytes, budgetTokens) => {
        const reading = readSources([pieces(bytes)], { budgetTokens });
        expectPointsRight(reading, [log(Buffer.from(bytes).toString('utf8'))]);
        expectWithin(reading, budgetTokens);
      }),
      { numRuns: runs(100) },
    );
  });

  it('throws only TriageErrors while decoding, plain or compressed', async () => {
    const packed = anyBytes.map((bytes) => gzipSync(bytes));
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyBytes, packed),
        fc.constantFrom('log' as const, 'report' as const),
        async (bytes, kind) => {
          for (const decode of [
            async () => [decodeSource('build.log', bytes, kind, { maxBytes: 500_000 })],
            () => decodeSources('build.log', bytes, kind, { maxBytes: 500_000 }),
          ]) {
            const sources = await decode().catch((error: unknown) =>
              error instanceof TriageError ? [] : Promise.reject(error),
            );
            const reading = readSources(sources, { budgetTokens: 2_000 });
            expectPointsRight(reading, sources);
          }
        },
      ),
      { numRuns: runs(80) },
    );
  });
});
