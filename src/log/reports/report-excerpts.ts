import type { Excerpt, FailingTest } from '../../domain/failure.ts';
import { append } from '../../lib/collections.ts';
import { stripEscapes } from '../lines/clean.ts';
import type { LogText } from '../lines/lines.ts';
import { countTokens } from '../reduce/tokens.ts';
import type { Passage, PassageLine } from './passages.ts';
import { findPassages, type TestReport } from './report-draft.ts';

/** The excerpts of reports, and their number of tokens. */
export interface ReportExcerpts {
  readonly excerpts: readonly Excerpt[];
  readonly tokens: number;
}

/** The minimum number of tokens for a test's passage, as long as the budget lasts. */
const MIN_SHARE = 120;
const [TEST_WEIGHT, DIAGNOSTIC_WEIGHT] = [90, 60];
/** The maximum number of lines of a test's block in a log that are searched for its message. */
const MAX_BLOCK = 300;
/** The type before a message. Runners leave it out or shorten it. */
const THROWN = /^\s{0,20}[\w.$\\]{1,200}(?: \[\w{1,40}\])?: (?=\S)/;

/**
 * Creates excerpts of what reports say about the failing tests and of diagnostics, within a budget of tokens
 * that is divided among them. A test whose message is in its lines of a log is left out, because it is quoted
 * from there.
 */
export function createReportExcerpts(
  reports: readonly TestReport[],
  tests: readonly FailingTest[],
  logs: readonly LogText[],
  room: number,
): ReportExcerpts {
  const passages = [
    ...tests.filter((test) => !isShownInLog(test, logs)).flatMap((test) => findTestPassages(test, reports)),
    ...reports.map(({ source, quotable }) => ({ source, passage: quotable, weight: DIAGNOSTIC_WEIGHT })),
  ].filter(({ passage }) => passage.length > 0);
  const excerpts: Excerpt[] = [];
  let tokens = 0;
  for (const [at, { source, passage, weight }] of passages.entries()) {
    const share = Math.min(room - tokens, Math.max(MIN_SHARE, (room - tokens) / (passages.length - at)));
    const visible = getLinesWithin(passage, share);
    if (visible.lines.length === 0) break;
    tokens += visible.tokens;
    append(excerpts, joinLines(source, visible.lines, weight));
  }
  return { excerpts, tokens };
}

/** Tells whether a test's lines in a log contain the beginning of its message. */
export function isShownInLog({ message, spans = [] }: FailingTest, logs: readonly LogText[]): boolean {
  const inLogs = spans.flatMap((span) => {
    const log = logs.find(({ name }) => name === span.source);
    return log === undefined ? [] : [{ log, ...span }];
  });
  if (message === null) return inLogs.length > 0;
  const first = message.split('\n').find((line) => line.trim() !== '') ?? '';
  const words = joinWords(first.replace(THROWN, '')).slice(0, 160);
  return inLogs.some(({ log, lineStart, lineEnd }) => {
    for (let line = lineStart; line <= Math.min(lineEnd, lineStart + MAX_BLOCK); line++)
      if (joinWords(log.line(line)).includes(words)) return true;
    return false;
  });
}

/** Reduces a text to lower-case letters and digits, so that texts of different tools can be compared. */
export function joinWords(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

function findTestPassages(test: FailingTest, reports: readonly TestReport[]) {
  return reports.flatMap((report) =>
    findPassages(report, test, test.spans ?? []).map(({ lines }) => ({
      source: report.source,
      passage: lines,
      weight: TEST_WEIGHT,
    })),
  );
}

function getLinesWithin(
  passage: Passage,
  room: number,
): { readonly lines: readonly PassageLine[]; readonly tokens: number } {
  let tokens = 0;
  const lines: PassageLine[] = [];
  for (const passageLine of passage) {
    const cost = countTokens(stripEscapes(`${passageLine.text}\n`));
    if (tokens + cost > room) break;
    tokens += cost;
    lines.push(passageLine);
  }
  return { lines, tokens };
}

/** Joins consecutive lines into excerpts. */
function joinLines(source: string, lines: readonly PassageLine[], weight: number): Excerpt[] {
  const excerpts: Excerpt[] = [];
  for (const { line, text } of lines) {
    const last = excerpts.at(-1);
    if (last !== undefined && last.lineEnd + 1 === line)
      excerpts[excerpts.length - 1] = { ...last, lineEnd: line, text: `${last.text}\n${text}` };
    else excerpts.push({ source, lineStart: line, lineEnd: line, text, reason: 'test report', weight });
  }
  return excerpts;
}
