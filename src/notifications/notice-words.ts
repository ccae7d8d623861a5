import type { Build } from '../domain/build.ts';
import { nameCategory } from '../domain/category-words.ts';
import { formatConfidence, formatCount } from '../lib/text.ts';
import type { CauseStanding } from './cause-standing.ts';
import { clip, formatNumber } from './visible-text.ts';

/** The way in which a channel shows untrusted text: as plain text, and as code. */
interface Wording {
  plain(text: string): string;
  code(text: string): string;
}

/** Formats a count: "3 tests", "1 failure". */
export function countWords(count: number, areTests: boolean): string {
  return formatCount(count, areTests ? 'test' : 'failure');
}

/** Formats the name of a build: `ci #812`. */
export function buildName({
  pipeline,
  number,
  attempt,
}: Pick<Build, 'pipeline' | 'number' | 'attempt'>): string {
  return `${clip(pipeline, 80)} #${clip(number, 40)}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
}

/** Formats a time: "at 14:09 UTC" on the day of the build, else "on 12 Oct 2026". */
function formatTimeWords(at: string, build: Build): string {
  return at.slice(0, 10) === build.receivedAt.slice(0, 10)
    ? `at ${at.slice(11, 16)} UTC`
    : `on ${formatDay(at)}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats a day in UTC: "12 Oct 2026". */
export function formatDay(at: string): string {
  const date = new Date(at);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/**
 * Describes the state of a cause: "Test failure, 3 tests, 91 % (right 58 of 62 times at this level)". If a
 * person decided, names that person.
 */
export function describeStanding(standing: CauseStanding, { plain }: Wording): string {
  const { cause, build, form } = standing;
  const category = nameCategory(standing.category);
  const { analysis, review, record } = cause;
  const what = countWords(cause.failures, cause.tests.length > 0);
  const decision = review?.decision ?? null;
  const by =
    decision === null
      ? ''
      : `${plain(clip(decision.reviewer, 100))} ${formatTimeWords(decision.decidedAt, build)}`;
  const sureness = formatConfidence(analysis.verdict.confidence);
  if (form === 'confirmed') return `${category}, ${what}, confirmed by ${by}`;
  if (form === 'corrected')
    return `${category}, ${what}, corrected by ${by} (Faultline said ${nameCategory(analysis.category)})`;
  if (form === 'rejected')
    return `${what}, not explained: ${by} rejected Faultline's answer (${nameCategory(analysis.category)})`;
  if (form === 'failed') return `${what}, the analysis failed`;
  if (form === 'unsure') return `best guess ${category}, ${what}, ${sureness}, needs review`;
  if (analysis.recalled !== null) {
    const { confirmedBy, confirmedAt, timesSeen } = analysis.recalled;
    const seen = timesSeen === 1 ? 'seen once' : `seen ${formatNumber(timesSeen)} times`;
    return `${category}, ${what}, known since ${formatDay(confirmedAt)}, confirmed by ${plain(clip(confirmedBy, 100))}, ${seen}`;
  }
  if (analysis.ruled !== undefined) {
    const { author, createdAt } = analysis.ruled;
    return `${category}, ${what}, by a rule from ${plain(clip(author, 100))} (${formatDay(createdAt)})`;
  }
  const right = record === null ? '' : ` (right ${record.right} of ${record.decided} times at this level)`;
  return `${category}, ${what}, ${sureness}${right}`;
}

/** Formats a duration: "31 s", "2 min". */
export function formatDurationWords(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/**
 * The addresses of our pages, for texts in other systems. All are null if no public address is configured.
 */
export interface NoticeLinks {
  build(id: string): string | null;
  analysis(id: string): string | null;
  run(analysisId: string): string | null;
  review(id: string): string | null;
  /** Returns the address of lines of one log of a build. Lines are 1-based, and the last one is included. */
  lines(
    buildId: string,
    source: string,
    lines: { readonly lineStart: number; readonly lineEnd: number },
  ): string | null;
}

export function createNoticeLinks(publicUrl: string | null): NoticeLinks {
  const base = publicUrl?.replace(/\/$/, '') ?? null;
  const to = (folder: string) => (id: string) =>
    base === null ? null : `${base}/${folder}/${encodeURIComponent(id)}`;
  const log = to('logs');
  return {
    build: to('builds'),
    analysis: to('analyses'),
    run: to('runs'),
    review: to('review'),
    lines: (buildId, source, { lineStart, lineEnd }) => {
      const page = log(buildId);
      if (page === null) return null;
      return `${page}?file=${encodeURIComponent(source.toWellFormed())}&L=${lineStart}-${lineEnd}#L${lineStart}`;
    },
  };
}

/**
 * Creates a Markdown link of our own, or returns null if there is no address. `words` must be our own text,
 * or already neutralized.
 */
export function createMarkdownLink(words: string, address: string | null): string | null {
  return address === null ? null : `[${words}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}
