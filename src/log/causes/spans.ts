import type { FailingTest, LogRange, Section } from '../../domain/failure.ts';
import { findFirstPlace } from '../../lib/collections.ts';
import type { Extraction } from '../extract/extraction.ts';
import { joinRanges, subtractRanges } from '../line-ranges.ts';
import { classifyRole } from '../line-roles.ts';
import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/**
 * The maximum number of lines by which a test's block is extended beyond the point where its reader stopped.
 */
const MAX_REST = 300;

/**
 * Extends the block of each failing test to the line before the next test's block, because readers stop after
 * a number of lines. A line of a passing test, of the totals, or of the CI system ends the block.
 */
export function withWholeSpans(log: LogText, found: Extraction): Extraction {
  const starts = found.failingTests
    .flatMap(({ spans = [] }) => spans.map(({ lineStart }) => lineStart))
    .sort((a, b) => a - b);
  const nextAfter = (line: number) =>
    starts[findFirstPlace(starts.length, (place) => (starts[place] ?? 0) <= line)] ?? null;
  const whole = (span: LogRange): LogRange => {
    if (span.lineEnd === span.lineStart) return span;
    const next = nextAfter(span.lineEnd);
    if (next === null || next - span.lineEnd > MAX_REST) return span;
    for (let line = span.lineEnd + 1; line < next; line++) if (isEndOfTests(log.line(line))) return span;
    return { ...span, lineEnd: next - 1 };
  };
  const failingTests = found.failingTests.map((test) =>
    test.spans === undefined ? test : { ...test, spans: test.spans.map(whole) },
  );
  return { ...found, failingTests };
}

/**
 * Ends each test's block at the end of the failed section that it begins in: the next section holds the
 * output of another command.
 */
export function withSpansInSections(found: Extraction, sections: readonly Section[]): Extraction {
  if (sections.length === 0) return found;
  const findEnd = (start: number, end: number) => {
    const around = sections.find(({ lineStart, lineEnd }) => start >= lineStart && start <= lineEnd);
    return Math.min(end, around?.lineEnd ?? end);
  };
  const cut = (span: LogRange): LogRange => ({ ...span, lineEnd: findEnd(span.lineStart, span.lineEnd) });
  const blocks = found.blocks.map((block) => ({ ...block, end: findEnd(block.start, block.end) }));
  const failingTests = found.failingTests.map((test) =>
    test.spans === undefined ? test : { ...test, spans: test.spans.map(cut) },
  );
  return { ...found, failingTests, blocks };
}

/**
 * Tells whether a line cannot belong to a failing test: it is of a passing test, of the totals, or of the CI
 * system.
 */
function isEndOfTests(text: string): boolean {
  const role = classifyRole(text);
  return role === 'passing' || (!/^\s/.test(text) && (role === 'ending' || role === 'echo'));
}

/** The lines of one log by the failure that they belong to. */
export interface Ownership {
  /**
   * Returns the lines of these failures, given by index, in ascending order. In nested blocks, the lines
   * belong to the owner of the inner block.
   */
  own(failures: ReadonlySet<number>): LineRange[];
  /** Returns the lines of all other failures. */
  foreign(failures: ReadonlySet<number>): LineRange[];
}

/**
 * Determines which failure each line of a log belongs to. `spans` holds the ranges of each failure, in the
 * order of the failures.
 */
export function determineOwnership(source: string, spans: readonly (readonly LogRange[])[]): Ownership {
  const all = spans.flatMap((ranges, owner) =>
    ranges
      .filter((range) => range.source === source)
      .map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd, owner })),
  );
  // A line in nested blocks belongs only to the test of the inner block.
  const pieces = all.map((span) => {
    const inner = all.filter((other) => other.owner !== span.owner && isInside(other, span));
    return { owner: span.owner, ranges: subtractRanges([span], joinRanges(inner)) };
  });
  const collectRanges = (isWanted: (owner: number) => boolean) =>
    joinRanges(pieces.filter(({ owner }) => isWanted(owner)).flatMap(({ ranges }) => ranges));
  return {
    own: (failures) => collectRanges((owner) => failures.has(owner)),
    foreign: (failures) =>
      subtractRanges(
        collectRanges((owner) => !failures.has(owner)),
        collectRanges((owner) => failures.has(owner)),
      ),
  };
}

function isInside(inner: LineRange, outer: LineRange): boolean {
  const isShorter = inner.end - inner.start < outer.end - outer.start;
  return isShorter && inner.start >= outer.start && inner.start <= outer.end;
}

/** Returns the lines of a failing test, by its blocks or its position. */
export function listSpansOfTest({ spans, at }: FailingTest): readonly LogRange[] {
  if (spans !== undefined && spans.length > 0) return spans;
  return at === null ? [] : [{ source: at.source, lineStart: at.line, lineEnd: at.line }];
}
