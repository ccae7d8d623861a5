import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Category } from '../../src/domain/category.ts';
import type { Reading } from '../../src/domain/reading.ts';
import { listToolReaders } from '../../src/log/extract/run.ts';
import { showsFailure } from '../../src/log/fingerprint/failures.ts';
import { type ReadOptions, readSources } from '../../src/log/read-sources.ts';
import { HARMLESS, type HarmlessKind } from './harmless-lines.ts';
import { inventLogs } from './invented-tools.ts';

/** A captured failure and the lines that say why it failed. */
export interface CapturedFailure {
  readonly name: string;
  readonly tool: string;
  readonly text: string;
  readonly green: string | null;
  readonly telling: readonly (readonly [number, number])[];
  /** True if its tool has no reader of its own, and the ranking did not learn from it. */
  readonly heldOut: boolean;
  /** Its category, and other acceptable ones. Empty if none is labeled. */
  readonly accepted: readonly Category[];
}

/** A share of cases with its minimum. */
export interface GateFigure {
  readonly name: string;
  readonly value: number;
  readonly bar: number;
  readonly cases: number;
  readonly missed: readonly string[];
}

/** Reads a text. The gates are also tested with worse readers. */
export type Read = (text: string, options?: Partial<ReadOptions>) => Reading;

/** Reads a text as the product does, within 2,000 tokens. */
export const readText: Read = (text, options) =>
  readSources([{ name: 'log', kind: 'log', text, notes: [] }], { budgetTokens: 2_000, ...options });

/** Creates a reader that reads a text only once for all gates that leave out the same tools. */
export function createCachedRead(read: Read = readText): Read {
  const readings = new Map<string, Map<string, Reading>>();
  return (text, options = {}) => {
    const { leftOut, ...others } = options;
    if (Object.keys(others).length > 0) return read(text, options);
    const key = [...(leftOut ?? [])].join(' ');
    const known = readings.get(key) ?? new Map<string, Reading>();
    readings.set(key, known);
    const reading = known.get(text) ?? read(text, options);
    known.set(text, reading);
    return reading;
  };
}

const FIXTURES = join(import.meta.dirname, '../fixtures');
const Range = z.tuple([z.int(), z.int()]);
const Truth = z.object({
  heldOut: z.boolean().default(false),
  tool: z.string().optional(),
  mustCite: z.array(Range).optional(),
  telling: z.array(Range).optional(),
  category: Category.optional(),
  alsoOk: z.array(Category).default([]),
});

/** Lists every captured failure, including those of tools without a reader of their own. */
export function readCapturedFailures(): CapturedFailure[] {
  return ['failures', 'tools'].flatMap((set) =>
    readdirSync(join(FIXTURES, set), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => {
        const file = (path: string) => readFileSync(join(FIXTURES, set, name, path), 'utf8');
        const truth = Truth.parse(JSON.parse(file('truth.json')));
        const hasGreen = readdirSync(join(FIXTURES, set, name)).includes('green.log.txt');
        const telling = truth.telling ?? truth.mustCite ?? [];
        return {
          name,
          tool: truth.tool ?? name,
          text: file('log.txt'),
          green: hasGreen ? file('green.log.txt') : null,
          telling,
          heldOut: truth.heldOut,
          accepted: truth.category === undefined ? [] : [truth.category, ...truth.alsoOk],
        };
      }),
  );
}

/**
 * Measures whether a harmless line outside of the cause changes the headline or the kept lines of the cause.
 * `each` is the number of kinds per failure.
 */
export function measureHarmlessLines(
  failures: readonly CapturedFailure[],
  each: number,
  read: Read = readText,
): GateFigure[] {
  const [headlines, kept]: [string[], string[]] = [[], []];
  let cases = 0;
  for (const failure of failures) {
    const before = read(failure.text);
    // The kinds depend on the name, so that a new capture changes nothing for the others.
    const i = createHash('sha256').update(failure.name).digest().readUInt16BE();
    for (let k = 0; k < each; k++) {
      const kind = HARMLESS[(i * each + k) % HARMLESS.length];
      if (kind === undefined) continue;
      const { text, telling } = withHarmless(failure, kind, i * 31 + k * 7);
      const after = read(text);
      cases++;
      const label = `${failure.name} with ${kind.name}`;
      if (findHeadline(after) !== findHeadline(before)) headlines.push(label);
      if (computeKeptShare(after, telling) < computeKeptShare(before, failure.telling)) kept.push(label);
    }
  }
  return [
    createFigure('a harmless line leaves the headline', 0.94, cases, headlines),
    createFigure('a harmless line leaves the kept cause lines', 0.99, cases, kept),
  ];
}

/**
 * Measures whether captured failures that the ranking did not learn from still show a labeled line, without
 * the reader of any tool.
 */
export function measureUnknownTools(all: readonly CapturedFailure[], read: Read = readText): GateFigure[] {
  const failures = all.filter(({ heldOut }) => heldOut);
  const leftOut = listToolReaders();
  const [lost, headlines]: [string[], string[]] = [[], []];
  for (const failure of failures) {
    const reading = read(failure.text, { leftOut });
    if (computeKeptShare(reading, failure.telling) < 1) lost.push(failure.name);
    if (!tells(reading, failure)) headlines.push(failure.name);
  }
  return [
    createFigure('telling lines kept without any tool’s reader', 0.98, failures.length, lost),
    createFigure(
      'headline among the telling lines without any tool’s reader',
      0.73,
      failures.length,
      headlines,
    ),
  ];
}

/** Measures whether logs of passed builds have no failure. */
export function measurePassedLogs(failures: readonly CapturedFailure[], read: Read = readText): GateFigure {
  const green = failures.filter((failure) => failure.green !== null);
  const missed = green
    .filter((capturedFailure) => showsFailure(read(capturedFailure.green ?? '')))
    .map(({ name }) => name);
  return createFigure('green logs without a failure', 0.99, green.length, missed);
}

/**
 * Measures whether the headline of logs of invented tools is not a harmless line. It uses only tools and
 * kinds that the ranking did not learn from.
 */
export function measureInventedTools(count: number, read: Read = readText): GateFigure[] {
  const unseen = new Set(HARMLESS.filter((_, i) => i % 2 === 1).map(({ name }) => name));
  const logs = inventLogs(count * 5, 11)
    .filter(({ name }) => !isLearned(name) && unseen.has(name.split(' with ')[1] ?? ''))
    .slice(0, count);
  const [harmless, untold]: [string[], string[]] = [[], []];
  for (const log of logs) {
    const headline = read(log.lines.join('\n')).messages[0]?.at?.line ?? 0;
    if (log.harmlessAt.includes(headline)) harmless.push(log.name);
    if (!log.telling.includes(headline)) untold.push(log.name);
  }
  return [
    createFigure('headline of an invented tool’s log is not the harmless line', 0.92, logs.length, harmless),
    createFigure('headline of an invented tool’s log is a telling line', 0.9, logs.length, untold),
  ];
}

/**
 * Tells whether the ranking may learn from an invented tool: half of them, chosen by the characters of the
 * name.
 */
export function isLearned(name: string): boolean {
  let sum = 0;
  for (const character of name.split(' with ')[0] ?? '') sum += character.charCodeAt(0);
  return sum % 2 === 0;
}

/**
 * Inserts the lines of a harmless kind outside of the cause, at a position that depends only on `seed`. A
 * clean-up is inserted after the end, and the head of another step before the first line.
 */
export function withHarmless(
  { text, telling }: Pick<CapturedFailure, 'text' | 'telling'>,
  kind: HarmlessKind,
  seed: number,
): { text: string; telling: (readonly [number, number])[]; harmlessAt: number[] } {
  const lines = text.split('\n');
  const at = placeFor(kind, lines, telling, seed);
  const stamp = /^\d{4}-\d\d-\d\dT\S{8,30}Z /.exec(lines[Math.min(at, lines.length) - 1] ?? '')?.[0] ?? '';
  const added = kind.lines.map((line) => `${stamp}${line}`);
  const moved = telling.map(([start, end]) =>
    start >= at ? ([start + added.length, end + added.length] as const) : ([start, end] as const),
  );
  const harmlessAt = added.map((_, i) => at + i);
  return {
    text: [...lines.slice(0, at - 1), ...added, ...lines.slice(at - 1)].join('\n'),
    telling: moved,
    harmlessAt,
  };
}

/** Returns the number of the line before which the kind is inserted. */
function placeFor(
  kind: HarmlessKind,
  lines: readonly string[],
  telling: CapturedFailure['telling'],
  seed: number,
): number {
  if (kind.name.startsWith('clean-up')) return lines.length;
  if (kind.lines[0]?.startsWith('##[group]') === true) return 1;
  const head = lines.findIndex((line) => line.includes('##[endgroup]'));
  const end = lines.findLastIndex((line) =>
    /##\[error\]|Finished: FAILURE|marked build as failure/.test(line),
  );
  const [from, to] = [head + 2, end < 0 ? lines.length : end + 1];
  const free = Array.from({ length: Math.max(1, to - from + 1) }, (_, i) => from + i).filter(
    (line) => !telling.some(([start, last]) => line > start && line <= last),
  );
  return free[(seed * 7_919) % free.length] ?? from;
}

function findHeadline(reading: Reading): string {
  return reading.messages[0]?.text ?? '';
}

/** Tells whether the first message is one of the labeled lines, or contains most words of one. */
function tells(reading: Reading, { text, telling }: CapturedFailure): boolean {
  const headline = reading.messages[0];
  if (headline?.at == null) return false;
  const { line } = headline.at;
  const said = new Set(splitWords(headline.text));
  const lines = text.split('\n');
  return telling.some(([start, end]) => {
    if (line >= start && line <= end) return true;
    const words = splitWords(lines[start - 1] ?? '');
    return words.length > 2 && words.filter((word) => said.has(word)).length >= 0.7 * words.length;
  });
}

/** Returns the words of a line without its timestamp and escape sequences. */
function splitWords(line: string): string[] {
  const shown = line.replace(/^\d{4}-\d\d-\d\dT\S{8,30} /, '').replace(/\u001b\[[\d;]{0,20}m/g, '');
  return [...new Set(shown.toLowerCase().match(/[a-z0-9]{2,60}/g) ?? [])];
}

function computeKeptShare(reading: Reading, telling: CapturedFailure['telling']): number {
  let [all, kept] = [0, 0];
  for (const [start, end] of telling) {
    for (let line = start; line <= end; line++) {
      all++;
      if (reading.excerpts.some(({ lineStart, lineEnd }) => lineStart <= line && line <= lineEnd)) kept++;
    }
  }
  return all === 0 ? 1 : kept / all;
}

/** Creates a figure: a share of cases with its minimum. */
export function createFigure(
  name: string,
  bar: number,
  cases: number,
  missed: readonly string[],
): GateFigure {
  return { name, value: cases === 0 ? 0 : 1 - missed.length / cases, bar, cases, missed };
}
