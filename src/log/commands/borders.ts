import { findMax } from '../../lib/collections.ts';
import type { Extraction } from '../extract/extraction.ts';
import { normalizeMessage } from '../fingerprint/normalize.ts';
import { joinRanges } from '../line-ranges.ts';
import { classifyRole } from '../line-roles.ts';
import type { LogText } from '../lines/lines.ts';
import { isWithin, type LineRange } from '../sections/system.ts';
import { isLastWord } from './complaints.ts';

/**
 * Scores of the lines from which the output of another command may begin, by line number. A higher score fits
 * better. A line without an entry cannot begin an output.
 */
export type Scores = ReadonlyMap<number, number>;

/** The score that a border must exceed. It keeps lines without any sign of a border from being one. */
const COST = 0.25;
/** A line in which a tool prints its name and version, or a package manager the script that it runs. */
const BANNER = new RegExp(
  `^(?:${[
    '> \\S{1,100}@\\S{1,40} \\S',
    'yarn run v\\d',
    'TAP version',
    'v?\\d{1,3}\\.\\d{1,4}\\.\\d{1,4}$',
    '={3,} test session starts',
    '\\[INFO\\] Scanning for projects',
    '(?:[A-Za-z][\\w.-]{1,30} ){1,3}(?:version )?v?\\d{1,3}\\.\\d{1,4}\\b',
  ].join('|')})`,
);
/** A line of a Go or C stack trace that names a function; the line below it names the place. */
const FRAME = /^[\w./*()$<>-]{3,200}\([^()]{0,200}\)$|^created by |^goroutine \d/;

/**
 * Scores each line of an output by how well it fits as the first line of another command's output. The score
 * depends on the text of the line, the line above it, and what was found at both. `errors` are the lines that
 * {@link findErrors} returns. The first fitting line after an error scores higher than later ones.
 */
export function scoreBorders(
  log: LogText,
  found: Extraction,
  { start, end }: LineRange,
  errors: ReadonlySet<number>,
): Scores {
  const scoreInside = computeInsideScores(found);
  const tools = new Map(
    found.diagnostics.flatMap(({ at, tool }) => (at === null ? [] : [[at.line, tool] as const])),
  );
  const first = normalizeMessage(findFirstWords(log, start, end));
  const scores = new Map<number, number>();
  const seen = new Map<string, number>();
  let lastTool: string | null = null;
  let above = '';
  let [isNewStart, isNewProgress] = [true, true];
  for (let line = start; line <= end; line++) {
    const text = log.line(line);
    if (text.trim() === '') continue;
    const tool = tools.get(line) ?? null;
    const isError = errors.has(line);
    if (above !== '') {
      const context = {
        above,
        isAfterBlank: log.line(line - 1) === '',
        isFirstWord: normalizeMessage(text) === first,
      };
      const isRepeated = seen.get(text) === 1 && /[a-z]{3}.{8}/i.test(text) && !isError;
      const border =
        scoreLine(text, context) +
        (isNewProgress && isDoing(text) && !isDoing(above) ? 1.5 : 0) +
        (isRepeated ? 1 : 0);
      const isAfterError =
        !scoreInside.isInside(line) && (errors.has(line - 1) || scoreInside.isInside(line - 1));
      const score =
        border +
        scoreTool(tool, lastTool) +
        (isAfterError ? 0.5 : 0) -
        scoreInside.cost(line, text, above) -
        COST;
      scores.set(line, score > 0 && isNewStart ? score + (border > 0.75 ? 1 : 0.25) : score);
      if (score > 0) isNewStart = false;
    }
    isNewProgress = isError || (isNewProgress && !isDoing(text));
    if (isError || scoreInside.isInside(line)) isNewStart = true;
    seen.set(text, (seen.get(text) ?? 0) + 1);
    lastTool = tool ?? lastTool;
    above = text;
  }
  return scores;
}

/**
 * Scores a finding: a finding of another tool makes a border more likely, one of the same tool less likely.
 */
function scoreTool(tool: string | null, lastTool: string | null): number {
  if (tool === null) return 0;
  if (lastTool === null) return 1;
  return tool === lastTool ? -0.5 : 2.5;
}

/**
 * Computes the cost of a border within lines that belong together: the lines of a finding, the block of a
 * test, or all blocks of one test.
 */
function computeInsideScores({ blocks, failingTests }: Extraction) {
  const toInner = (ranges: readonly LineRange[]) =>
    joinRanges(ranges.filter((range) => range.start < range.end).map(withoutFirst));
  const findings = toInner(blocks.filter(({ loose }) => loose !== true));
  const spans = failingTests.map((test) =>
    (test.spans ?? []).map(({ lineStart, lineEnd }) => ({ start: lineStart, end: lineEnd })),
  );
  const ofTests = toInner(spans.flat());
  const wholes = toInner(
    spans.flatMap(([first, ...more]) =>
      first === undefined
        ? []
        : {
            start: first.start,
            end: findMax(
              more.map(({ start }) => start),
              first.start,
            ),
          },
    ),
  );
  return {
    isInside: (line: number) => isWithin(findings, line),
    cost: (line: number, text: string, above: string) => {
      if (isWithin(findings, line) && !isDoing(text)) return 6;
      if (isWithin(ofTests, line) && !isLastWord(above)) return 4;
      return isWithin(wholes, line) ? 3 : 0;
    },
  };
}

function withoutFirst({ start, end }: LineRange): LineRange {
  return { start: start + 1, end };
}

/** A line that begins with a verb in its -ing form: `Checking formatting...`, `Auto-merging limits.conf`. */
const DOES = new RegExp(
  String.raw`^\s{0,12}(?!Missing|Warning|During|String|Nothing|Setting)` +
    String.raw`(?:[A-Z][a-z]{1,10}-)?[A-Z]?[a-z]{2,14}ing\b(?! to\b)`,
);

/** Tells whether a line announces what a tool does next. */
function isDoing(text: string): boolean {
  return classifyRole(text) === 'progress' || DOES.test(text);
}

function findFirstWords(log: LogText, start: number, end: number): string {
  for (let line = start; line <= end; line++) if (/\w/.test(log.line(line))) return log.line(line);
  return '';
}

interface LineContext {
  readonly above: string;
  readonly isAfterBlank: boolean;
  /** True if the line equals the first line of the output, apart from numbers. */
  readonly isFirstWord: boolean;
}

function scoreLine(text: string, { above, isAfterBlank, isFirstWord }: LineContext): number {
  const indent = /^\s*/.exec(text)?.[0].length ?? 0;
  const role = classifyRole(text);
  const mark = /^\S*[^\w\s]\S*/.exec(text)?.[0];
  let score = isFirstWord ? 4 : 0;
  if (indent > 0 && !isDoing(text)) score -= indent === 1 ? 1 : 4;
  if (isLastWord(text)) score -= 3;
  else if (isLastWord(above)) score += 2;
  if (role === 'echo' && !above.startsWith('-')) score += 3;
  if (role === 'blank') score -= /^\W{3}/.test(text) ? 0.5 : 1;
  if (isAfterBlank) score -= 0.5;
  else if (role === 'passing' && classifyRole(above) !== 'passing') score += 0.75;
  if (/^\s/.test(above) && indent === 0) score += 0.75;
  if (mark !== undefined && mark === /^\S*/.exec(above)?.[0]) score -= 2.5;
  if (FRAME.test(text)) score -= 3;
  if (BANNER.test(text)) score += 2.5;
  if (text.startsWith('Traceback ')) score += 1.5;
  if (/^(?:During handling of|The above exception)/.test(above)) score -= 6;
  return score;
}
