import type { Build } from '../domain/build.ts';
import { nameCategory } from '../domain/category-words.ts';
import { cutWithin, formatConfidence } from '../lib/text.ts';
import type { Situation } from '../ports/notices.ts';
import { listProofLines } from './answer-view.ts';
import { nameTests } from './build-answers.ts';
import type { CauseStanding } from './cause-standing.ts';
import { renderCommentCause } from './comment-cause.ts';
import { countWords, formatDay, type NoticeLinks } from './notice-words.ts';
import { renderComment } from './render-comment.ts';
import { formatNumber, toVisibleLine } from './visible-text.ts';
import { decideWhatToSay, type ToSay } from './what-to-say.ts';

/** An annotation at a line of a file. It is plain text: GitHub shows it as it is. */
export interface CheckAnnotation {
  readonly path: string;
  readonly line: number;
  readonly level: 'failure' | 'notice';
  readonly title: string;
  readonly message: string;
  readonly details: string;
}

/**
 * The content of a check run. Its conclusion is always neutral: the job itself is red, and the check run only
 * explains it.
 */
export interface CheckContent {
  readonly status: 'in_progress' | 'completed';
  readonly commit: string;
  readonly pullRequest: number | null;
  readonly title: string;
  /** The summary as Markdown, at most 65,535 characters. */
  readonly summary: string;
  /** All evidence as Markdown, at most 65,000 characters. */
  readonly text: string;
  /** One annotation per cause. The caller leaves out those in files that the pull request does not change. */
  readonly annotations: readonly CheckAnnotation[];
  readonly detailsUrl: string | null;
}

const MAX_TEXT = 65_000;
const MAX_TITLE = 250;
const MAX_TESTS = 6;
/** The maximum number of annotations, one per cause. No one reads a change that is full of them. */
const MAX_ANNOTATIONS = 10;

/** Renders the facts about one build as a check run. Returns null while the build has not failed. */
export function renderCheck(situation: Situation, links: NoticeLinks): CheckContent | null {
  const toSay = decideWhatToSay(situation);
  const comment = renderComment(situation, links);
  const [head] = situation.heads;
  if (head === undefined || head.build.commit === null) return null;
  if (toSay === null || comment === null)
    return renderPassedAfterAll(head.build, head.build.commit, situation, links);
  const causes = toSay.state === 'answered' ? toSay.causes : [];
  return {
    status:
      toSay.state === 'looking' || (toSay.state === 'answered' && toSay.open > 0)
        ? 'in_progress'
        : 'completed',
    commit: head.build.commit,
    pullRequest: head.build.pullRequest,
    title: shorten(formatTitle(toSay), MAX_TITLE),
    summary: comment.body,
    text: formatAllEvidence(causes, links),
    annotations: causes.flatMap(createAnnotations).slice(0, MAX_ANNOTATIONS),
    detailsUrl: links.build(head.build.id),
  };
}

/**
 * Renders the check of a build that passed although a job failed, because a check that was started must be
 * completed. Returns null if the notice is about a pull request or a branch.
 */
function renderPassedAfterAll(
  build: Build,
  commit: string,
  { about }: Situation,
  links: NoticeLinks,
): CheckContent | null {
  if (about.type !== 'build' || build.status !== 'passed') return null;
  const texts = {
    title: 'The build passed after all',
    summary: 'Part of the build failed, but the build passed.\n',
    text: '',
  };
  const { pullRequest } = build;
  return {
    status: 'completed',
    commit,
    pullRequest,
    ...texts,
    annotations: [],
    detailsUrl: links.build(build.id),
  };
}

export function formatTitle(toSay: ToSay): string {
  switch (toSay.state) {
    case 'looking':
      return toSay.failures > 0 ? `Analyzing ${countWords(toSay.failures, false)}` : 'Analyzing the failure';
    case 'could-not-look':
      return toSay.unread ? `Could not read the log: ${toSay.why}` : `Analysis failed: ${toSay.why}`;
    case 'fixed':
      return 'All failures are fixed';
    case 'answered':
      return formatAnsweredTitle(toSay.causes);
  }
}

/**
 * Formats the title of a check with answers: "2 causes, 1 needs you", "Not sure: needs review", "Known: npm
 * registry 503 (confirmed 12 Oct 2026)".
 */
function formatAnsweredTitle(causes: readonly CauseStanding[]): string {
  const [only] = causes;
  if (causes.length === 1 && only !== undefined) {
    const { recalled } = only.cause.analysis;
    if (only.form === 'unsure') return 'Not sure: needs review';
    if (only.form === 'known' && recalled !== null)
      return `Known: ${only.title} (confirmed ${formatDay(recalled.confirmedAt)})`;
    if (only.form === 'rejected') return 'Not explained: a reviewer rejected the answer';
    return `${only.title} (${nameCategory(only.category)})`;
  }
  const you = causes.filter(({ needsYou }) => needsYou).length;
  const unsure = causes.filter(({ form }) => form === 'unsure').length;
  const needs = [
    ...(you === 0 ? [] : [`${you} need${you === 1 ? 's' : ''} your attention`]),
    ...(unsure === 0 ? [] : [`${unsure} need${unsure === 1 ? 's' : ''} review`]),
  ];
  return [`${causes.length} causes`, ...needs].join(', ');
}

function formatAllEvidence(causes: readonly CauseStanding[], links: NoticeLinks): string {
  let text = '';
  for (const [index, cause] of causes.entries()) {
    const block = renderCommentCause(cause, {
      number: causes.length === 1 ? null : index + 1,
      several: false,
      links,
    });
    const left = causes.length - index;
    const more = `… ${left} more cause${left === 1 ? '' : 's'}${links.build(cause.build.id) === null ? '' : ` [in Faultline](${links.build(cause.build.id)})`}\n`;
    if (text.length + block.length + 2 + more.length > MAX_TEXT) return `${text}${more}`;
    text += `${block}\n\n`;
  }
  return text;
}

/**
 * Creates an annotation at the first suspect with a line. Returns an empty list if there is no such suspect.
 */
function createAnnotations({
  cause,
  category,
  title,
  rootCause,
  form,
  whose,
}: CauseStanding): CheckAnnotation[] {
  const suspect = cause.analysis.answer.suspects.find(
    ({ line, path }) => line !== null && line > 0 && isPath(path),
  );
  if (suspect === undefined || suspect.line === null || form === 'rejected' || form === 'failed') return [];
  const badge =
    form === 'confirmed' || form === 'corrected' ? form : formatConfidence(cause.analysis.verdict.confidence);
  const { named, more } = nameTests(cause.explains, MAX_TESTS);
  const others = more === 0 ? '' : ` and ${formatNumber(more)} more`;
  const tests =
    named.length === 0 ? '' : ` ${countWords(cause.failures, true)}: ${named.join(', ')}${others}.`;
  const quoted = listProofLines(cause.analysis).map(({ line, text }) => `${line}  ${toVisibleLine(text)}`);
  return [
    {
      path: suspect.path,
      line: suspect.line,
      level: whose.verdict === 'change' ? 'failure' : 'notice',
      title: shorten(`${title} (${nameCategory(category)}, ${badge})`, MAX_TITLE),
      message: shorten(`${rootCause}${tests}`, 4_000),
      details: quoted.join('\n').slice(0, 8_000),
    },
  ];
}

/** Checks whether a path is valid. GitHub rejects the whole request for one invalid path. */
function isPath(path: string): boolean {
  return (
    path.length <= 500 &&
    !path.startsWith('/') &&
    !path.split('/').includes('..') &&
    toVisibleLine(path) === path
  );
}

function shorten(text: string, limit: number): string {
  const line = toVisibleLine(text);
  return cutWithin(line, limit);
}
