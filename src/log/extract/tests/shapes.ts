import { append } from '../../../lib/collections.ts';
import { readFrame } from '../../frames.ts';
import {
  findBlockEnd,
  findLineAbove,
  type LogText,
  listLinesBetween,
  rememberLines,
} from '../../lines/lines.ts';
import type { Extractor, Findings, Groups } from '../extraction.ts';
import { type AddTest, lookBack, openTestList, placeIn, readBlock } from './block.ts';

/** The groups of a shape's patterns on the lines that name a failing test. */
export type Named = Groups;

/**
 * One form in which a runner reports a failing test. The patterns have the groups `name`, `suite`, `file`,
 * `line`, `message`, `expected` and `actual`; missing ones are read from the lines below.
 */
export interface Shape {
  /** The framework of these tests, if it is not the reader's name. */
  readonly framework?: string;
  /** The line that names the test. The other patterns match lines around it. */
  readonly head: RegExp;
  /** The pattern that the next line must match. */
  readonly next?: RegExp;
  /**
   * The pattern of a line that must be above it, at most `within` lines up (default 1). If `titled` is true,
   * the test's block begins there.
   */
  readonly above?: RegExp;
  readonly within?: number;
  readonly titled?: boolean;
  /**
   * A pattern of the nearest line above that is not blank. If it matches, the test is not reported: it only
   * failed because of what ends there.
   */
  readonly unless?: RegExp;
  /**
   * Returns the key by which the runner's `opens` identifies this test. If nothing is below its name, its
   * block begins where it was opened.
   */
  readonly opened?: (named: Named) => string;
  /**
   * The pattern of the two nearest such lines above. The heading between them is the test's name, one part on
   * each line.
   */
  readonly between?: RegExp;
  /**
   * The lines below that belong to the test: those indented more (the default), all lines up to `until`, or
   * none.
   */
  readonly body?: 'indented' | 'open' | 'none';
  readonly until?: RegExp;
  readonly limit?: number;
  /** Patterns for the lines of the block: one must match `needs`, and none may match `never`. */
  readonly needs?: RegExp;
  readonly never?: RegExp;
  /** The nearest heading above, which names the suite. */
  readonly suite?: RegExp;
  /** The runner's banner that must be above it. */
  readonly under?: RegExp;
  /**
   * True if an exception in its block is reported as an exception, too, and no other tests are searched for
   * in the block.
   */
  readonly raises?: boolean;
  /** Corrects what was read. Returns null if it is not a failing test. */
  readonly finish?: (named: Named, body: readonly string[]) => Named | null;
}

/** A runner: what to search for, and its shapes, the most specific first. */
export interface Runner {
  readonly name: string;
  readonly literals: readonly string[];
  readonly shapes: readonly Shape[];
  /**
   * Set if another reader may have reported the same tests. Tests that this reader finds again, by a similar
   * name or by the same name, are dropped.
   */
  readonly fillsIn?: 'alike' | 'same';
  /** The pattern that is removed from lines before they are read. */
  readonly strip?: RegExp;
  /**
   * A line that the runner prints in every run. Without it, nothing in the log is read as a test of this
   * runner.
   */
  readonly ran?: RegExp;
  /** The line that begins a part of the runner's report. The group `title` names the part. */
  readonly banner?: RegExp;
  /** The line that announces a test. The group `key` identifies the test. */
  readonly opens?: RegExp;
  /**
   * True if tests contain others, such as `TestA/case`. A test that only failed because of those inside it,
   * or because of tests of another runner, is dropped.
   */
  readonly nested?: boolean;
}

/** Creates the reader of one runner. */
export function createReader(runner: Runner): Extractor {
  return {
    name: runner.name,
    literals: runner.literals,
    extract: (log, lines, found) => readRunner(log, lines, found, runner),
  };
}

/** Returns a view of the log without the matches of these patterns. */
export function stripMatches(log: LogText, ...patterns: readonly RegExp[]): LogText {
  const strip = (line: number) =>
    patterns.reduce((text, pattern) => text.replace(pattern, ''), log.line(line));
  return { ...log, line: rememberLines(log.lineCount, strip) };
}

function readRunner(whole: LogText, lines: readonly number[], found: Findings, runner: Runner): void {
  const log = runner.strip === undefined ? whole : stripMatches(whole, runner.strip);
  if (runner.ran !== undefined && !lines.some((line) => runner.ran?.test(log.line(line)))) return;
  const lists = new Map<string, AddTest>();
  const before = runner.fillsIn === undefined ? [] : found.failingTests.map(splitTestName);
  const isKnown = runner.fillsIn === 'same' ? isSameName : isAlike;
  const begun = new Map<string, number>();
  let part = '';
  let last = 0;
  for (const line of lines) {
    const key = runner.opens?.exec(log.line(line))?.groups?.key;
    if (key !== undefined) begun.set(key, line);
    part = runner.banner?.exec(log.line(line))?.groups?.title ?? part;
    if (line <= last || key !== undefined) continue;
    for (const shape of runner.shapes) {
      if (shape.under?.test(part) === false) continue;
      const test = readShape(log, line, shape, begun);
      if (test === null) continue;
      if (before.some((other) => isKnown(other, splitTestName(test.known)))) break;
      const framework = shape.framework ?? runner.name;
      const add = lists.get(framework) ?? openTestList(log, found, framework);
      lists.set(framework, add);
      add(test.known, test.start, test.end);
      if (shape.raises === true) {
        last = test.end;
        addException(log, test, found);
      }
      break;
    }
  }
  if (runner.nested === true) dropParents(found, runner.name);
}

/**
 * Adds the exception that was raised in a test's block, with its deepest frame first. A bare `assert` is not
 * added.
 */
function addException(
  log: LogText,
  { known, start, end }: NonNullable<ReturnType<typeof readShape>>,
  found: Findings,
): void {
  const raised =
    /^(?<type>[A-Za-z_][\w.]{0,150}(?:Error|Exception|Exit|Interrupt|Timeout|Warning))(?:: (?<said>.{0,500}))?$/.exec(
      known.message ?? '',
    )?.groups;
  const frames = listLinesBetween(log, start, end, end - start + 1).flatMap((text) => readFrame(text) ?? []);
  if (raised?.type === undefined || frames.length === 0) return;
  const at = findLineAbove(
    log,
    end,
    end - start - 1,
    (text) => text.startsWith('E ') && text.endsWith(known.message ?? ''),
  );
  found.exception(at ?? start, raised.type, raised.said ?? '', frames.slice(0, 60).reverse());
}

function dropParents(found: Findings, framework: string): void {
  const ofFramework = found.failingTests.filter((test) => test.framework === framework);
  const others = found.failingTests.length > ofFramework.length;
  const kept = found.failingTests.filter(
    (test) =>
      test.framework !== framework ||
      !(
        ofFramework.some(({ name }) => name.startsWith(`${test.name}/`)) ||
        (others && test.file === null && !test.name.includes('/'))
      ),
  );
  found.failingTests.length = 0;
  append(found.failingTests, kept);
}

/**
 * Reads the failing test that a line names in this shape, with the lines that report it. Returns null if the
 * line names none.
 */
function readShape(log: LogText, line: number, shape: Shape, begun: ReadonlyMap<string, number>) {
  const head = shape.head.exec(log.line(line).trimEnd());
  if (head === null) return null;
  if (shape.unless?.test(lookBack(log, line, 4, (text) => text.trimEnd() || null)?.value ?? '') === true)
    return null;
  const next = shape.next === undefined ? null : shape.next.exec(log.line(line + 1).trimEnd());
  if (shape.next !== undefined && next === null) return null;
  const above =
    shape.above === undefined
      ? null
      : lookBack(log, line, shape.within ?? 1, (text) => shape.above?.exec(text.trimEnd()));
  if (shape.above !== undefined && above === null) return null;
  const heading = shape.between === undefined ? {} : readHeadingBetween(log, line, shape.between);
  if (heading === null) return null;
  const named: Named = {
    ...heading,
    ...readDefined(above?.value.groups),
    ...readDefined(head.groups),
    ...readDefined(next?.groups),
  };
  const last = line + (next === null ? 0 : 1);
  const below = shape.body === 'none' ? line : findTestEnd(log, last, shape);
  const opened = below > last ? undefined : begun.get(shape.opened?.(named) ?? '');
  const start = (shape.titled === true ? above?.line : opened) ?? line;
  const end =
    opened === undefined ? below : Math.min(line, findTestEnd(log, opened, { ...shape, body: 'open' }));
  const body = listLinesBetween(log, (start < line ? start : last) + 1, end, shape.limit);
  if (shape.needs !== undefined && !body.some((text) => shape.needs?.test(text.trimEnd()))) return null;
  if (shape.never !== undefined && body.some((text) => shape.never?.test(text.trimEnd()))) return null;
  const whole = shape.finish === undefined ? named : shape.finish(named, body);
  return whole === null ? null : { known: readKnownTest(log, start, whole, body, shape), start, end };
}

function readKnownTest(log: LogText, line: number, named: Named, body: readonly string[], shape: Shape) {
  const heading =
    shape.suite === undefined
      ? null
      : lookBack(log, line, 400, (text) => shape.suite?.exec(text.trimEnd())?.groups?.suite);
  const suite = named.suite ?? heading?.value ?? null;
  const name = named.name?.trim() ?? `${named.file}:${named.line}`;
  const read = readBlock(named.message === undefined ? body : [named.message, ...body], { name, suite });
  const place =
    named.file === undefined
      ? read.file === null
        ? placeAbove(log, line)
        : read
      : { file: named.file, line: null };
  const message = named.message === undefined ? read.message : named.message.trim() || null;
  const sides = { expected: named.expected ?? read.expected, actual: named.actual ?? read.actual };
  const at = { file: place.file, line: named.line === undefined ? place.line : Number(named.line) };
  return { name, suite: suite?.trim() || null, ...at, message, ...sides };
}

function findTestEnd(log: LogText, line: number, shape: Shape): number {
  const limit = shape.limit ?? 60;
  const isOver = (text: string) =>
    shape.until?.test(text.trimEnd()) === true || shape.head.test(text.trimEnd());
  const indent = shape.body === 'open' ? -1 : countIndent(log.line(line));
  const end = findBlockEnd(
    log,
    line,
    limit,
    (text) => !isOver(text) && (text.trim() === '' || countIndent(text) > indent),
  );
  return withoutBlanks(log, line, end);
}

/** Reads the place of a test from the line above its title, if that line has nothing else. */
export function placeAbove(
  log: LogText,
  line: number,
): { readonly file: string | null; readonly line: number | null } {
  const text = log.line(line - 1);
  return (isPlace(text) ? placeIn(text) : null) ?? { file: null, line: null };
}

/** Checks whether a line consists only of a place. */
export function isPlace(text: string): boolean {
  return /^\s{0,12}[^\s:()]{1,300}\.\w{1,8}[:(]\d{1,7}[:)\d]{0,10}\s{0,4}$/.test(text);
}

function readHeadingBetween(log: LogText, line: number, rule: RegExp): Named | null {
  const isRule = (text: string) => rule.test(text.trimEnd());
  const bottom = findLineAbove(log, line - 1, 199, isRule);
  const top = bottom === null ? null : findLineAbove(log, bottom - 1, 19, isRule);
  if (bottom === null || top === null) return null;
  const parts = listLinesBetween(log, top + 1, bottom - 1).map((text) => text.trim());
  return { name: parts.filter((part) => part !== '').join('/') };
}

/** Returns the last line of a block that is not blank. */
export function withoutBlanks(log: LogText, start: number, end: number): number {
  let last = end;
  while (last > start && log.line(last).trim() === '') last--;
  return last;
}

/** Counts the columns of white space at the beginning of a line. */
export function countIndent(text: string): number {
  return text.length - text.trimStart().length;
}

function readDefined(groups: Named | undefined): Named {
  return Object.fromEntries(
    Object.entries(groups ?? {}).filter(([, value]) => value !== undefined && value !== ''),
  );
}

/** The words of a test's suite and name. */
export interface Words {
  readonly all: readonly string[];
  readonly own: readonly string[];
}

/** Splits a test's name into words, so that different notations compare as equal. */
export function splitTestName({
  suite,
  name,
}: {
  readonly suite: string | null;
  readonly name: string;
}): Words {
  return { all: split(`${suite ?? ''} ${name}`), own: split(name) };
}

/** Checks whether two tests may be the same: the name of one is among the words of the other. */
export function isAlike(left: Words, right: Words): boolean {
  return isWithin(left.own, right.all) || isWithin(right.own, left.all);
}

function isSameName({ own }: Words, other: Words): boolean {
  return own.join(' ') === other.own.join(' ');
}

function isWithin(few: readonly string[], many: readonly string[]): boolean {
  return few.length > 0 && few.every((word) => many.includes(word));
}

function split(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}
