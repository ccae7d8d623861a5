import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/domain/reading.ts';
import type { GateFigure, Read } from '../support/reading-gates.ts';
import {
  measureHarmlessLines,
  measureInventedTools,
  measurePassedLogs,
  measureUnknownTools,
  readCapturedFailures,
  readText,
} from '../support/reading-gates.ts';

/** Each gate of the reader, with a reader that is worse in just the way that it is there for. */
const failures = readCapturedFailures().filter((_, i) => i % 12 === 0);

const last = (reading: Reading, text: string): Reading => {
  const line = text.split('\n').length;
  return {
    ...reading,
    messages: [{ text: text.split('\n').at(-1) ?? '', at: { source: 'log', line }, weight: 100 }],
  };
};

/** Takes the longest line for the headline, and keeps the first lines. */
const longest: Read = (text, options) => {
  const lines = text.split('\n');
  const at = lines.reduce((best, line, i) => (line.length > (lines[best]?.length ?? 0) ? i : best), 0);
  const excerpts = [
    {
      source: 'log',
      lineStart: 1,
      lineEnd: 12,
      text: lines.slice(0, 12).join('\n'),
      reason: 'first lines',
      weight: 1,
    },
  ];
  return {
    ...readText(text, options),
    excerpts,
    messages: [{ text: lines[at] ?? '', at: { source: 'log', line: at + 1 }, weight: 100 }],
  };
};
/** Quotes the line above the end, whatever is there. */
const end: Read = (text, options) =>
  last(readText(text, options), text.trimEnd().split('\n').slice(0, -1).join('\n'));

describe('the gates of the reader', () => {
  it('fail if a harmless line becomes the headline or displaces the cause', () => {
    expect(checkBars(measureHarmlessLines(failures, 2, longest))).toEqual([false, false]);
  });

  it('fail if the lines of an unknown tool are not shown', () => {
    expect(checkBars(measureUnknownTools(failures, longest))).toEqual([false, false]);
  });

  it('fail if a failure is found in the log of a passed build', () => {
    expect(
      checkBars([measurePassedLogs(failures, (text, options) => last(readText(text, options), text))]),
    ).toEqual([false]);
  });

  it('fail if the headline for an invented tool is a harmless line', () => {
    expect(checkBars(measureInventedTools(60, longest))).toEqual([false, false]);
    expect(checkBars(measureInventedTools(60, end))[1]).toBe(false);
  });
});

function checkBars(figures: readonly GateFigure[]): boolean[] {
  return figures.map(({ value, bar }) => value >= bar);
}
