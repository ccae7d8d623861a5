import { type Build, shortenCommit } from '../domain/build.ts';
import { nameCategory } from '../domain/category-words.ts';
import { sumNumbers } from '../lib/collections.ts';
import { formatConfidence } from '../lib/text.ts';
import type { FailedBefore, Situation } from '../ports/notices.ts';
import type { CauseStanding } from './cause-standing.ts';
import { renderCommentCause, renderCommentCauseLine } from './comment-cause.ts';
import {
  buildName,
  countWords,
  createMarkdownLink,
  formatDurationWords,
  type NoticeLinks,
} from './notice-words.ts';
import { clip, toCodeSpan, toInline } from './visible-text.ts';
import { decideWhatToSay, type ToSay } from './what-to-say.ts';

interface CommentContent {
  /** GitHub-flavored Markdown without a marker. The caller that posts it adds the marker. */
  readonly body: string;
}

/** The maximum length of a comment in characters. GitHub takes 65,536, but people do not read that much. */
export const COMMENT_BUDGET = 30_000;
const MAX_NAMED_BUILDS = 5;

/**
 * Renders the facts about a pull request as one comment. Returns null while no build has failed. Everything
 * from logs, models, people and CI is neutralized: none of their mentions, links, images, HTML or comment
 * markers survives, and no text can leave its fence.
 */
export function renderComment(situation: Situation, links: NoticeLinks): CommentContent | null {
  const toSay = decideWhatToSay(situation);
  return toSay === null ? null : { body: `${renderCommentBlocks(toSay, links).join('\n\n')}\n` };
}

function renderCommentBlocks(toSay: ToSay, links: NoticeLinks): string[] {
  switch (toSay.state) {
    case 'looking':
      return renderLooking(toSay, links);
    case 'answered':
      return renderAnswered(toSay, links);
    case 'could-not-look':
      return renderCouldNotLook(toSay, links);
    case 'fixed':
      return fitCauses(toSay.fixed, {
        full: (failedBefore) => renderFixed(failedBefore, links),
        line: renderGoneLine,
        more: (count) => `… and ${count} more build${count === 1 ? '' : 's'}`,
        budget: COMMENT_BUDGET,
      });
  }
}

function renderLooking(
  { builds, failures, question, usualMs }: Extract<ToSay, { state: 'looking' }>,
  links: NoticeLinks,
): string[] {
  const names = formatNames(builds.map(({ build }) => build));
  const what = failures > 0 ? `${countWords(failures, false)} in ${names}` : `why ${names} failed`;
  const commit = builds[0]?.build.commit ?? null;
  const watch = builds[0] === undefined ? null : createMarkdownLink('Watch', links.build(builds[0].build.id));
  const usual =
    usualMs === null || question !== null ? null : `This usually takes ${formatDurationWords(usualMs)}.`;
  const head = [
    `**Analyzing ${what}**${commit === null ? '' : ` (commit ${toInline(shortenCommit(commit))})`}.`,
    usual,
    watch,
  ].filter((part) => part !== null);
  if (question === null) return [head.join(' ')];
  const answer = createMarkdownLink('Answer', links.review(question.id));
  return [
    head.join(' '),
    [`Question for a reviewer: ${toInline(clip(question.question, 500))}`, answer]
      .filter((part) => part !== null)
      .join(' '),
  ];
}

function renderAnswered(toSay: Extract<ToSay, { state: 'answered' }>, links: NoticeLinks): string[] {
  const { causes, builds, open } = toSay;
  const [only] = causes;
  const isAlone = causes.length === 1 && open === 0;
  const several = builds.length > 1;
  const number = (index: number) => (isAlone ? null : index + 1);
  const rendered = fitCauses(causes, {
    full: (cause, index) => renderCommentCause(cause, { number: number(index), several, links }),
    line: (cause, index) => renderCommentCauseLine(cause, number(index)),
    more: (count) => `… and ${count} more cause${count === 1 ? '' : 's'}${renderBuildLink(builds, links)}`,
    budget: COMMENT_BUDGET - 2_000,
  });
  const still = open === 0 ? [] : [`Still analyzing ${open} more.`];
  return [
    renderHeadline(toSay),
    ...rendered,
    ...still,
    renderFooter(causes, isAlone && only !== undefined ? only : null, builds, links),
  ];
}

/** Renders the headline: the counts, and which causes need a person. */
function renderHeadline({
  causes,
  builds,
  failures,
  areTests,
  open,
}: Extract<ToSay, { state: 'answered' }>): string {
  const where = `${formatNames(builds)}${formatCommit(builds)}`;
  const failed = areTests ? `${countWords(failures, true)} failed` : countWords(failures, false);
  const [only] = causes;
  if (causes.length === 1 && open === 0 && only?.form === 'unsure') {
    const sureness = formatConfidence(only.cause.analysis.verdict.confidence);
    return `**${failed}. Faultline is not sure why (${sureness}). The answer needs review.** · ${where}`;
  }
  const reasons = `for ${causes.length} reason${causes.length === 1 ? '' : 's'}${open > 0 ? ' so far' : ''}`;
  return `**${failed} ${reasons}.${describeNeeds(causes)}** · ${where}`;
}

function describeNeeds(causes: readonly CauseStanding[]): string {
  const you = causes.filter(({ needsYou }) => needsYou).length;
  const unsure = causes.filter(({ form }) => form === 'unsure').length;
  const parts = [
    ...(you === 0
      ? []
      : [
          causes.length === 1
            ? 'It needs your attention'
            : `${you} need${you === 1 ? 's' : ''} your attention`,
        ]),
    ...(unsure === 0
      ? []
      : [`${unsure} need${unsure === 1 ? 's' : ''} review because Faultline is not sure`]),
  ];
  const sentence = parts.join('; ');
  return sentence === '' ? '' : ` ${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
}

function renderFooter(
  causes: readonly CauseStanding[],
  only: CauseStanding | null,
  builds: readonly Build[],
  links: NoticeLinks,
): string {
  const review = only?.cause.review ?? null;
  const [first] = builds;
  const analysis = only?.cause.analysis ?? null;
  const page =
    analysis !== null ? links.analysis(analysis.id) : first === undefined ? null : links.build(first.id);
  const usage = causes.map(({ cause }) => cause.analysis);
  const seconds = sumNumbers(usage.map(({ milliseconds }) => milliseconds));
  const cost = sumNumbers(usage.map((call) => call.usage.costUsd));
  const parts = [
    ...(only?.form === 'unsure' && review !== null
      ? [
          createMarkdownLink('Decide', links.review(review.id)),
          `waiting since ${review.openedAt.slice(11, 16)} UTC`,
        ]
      : [describeWrong(page)]),
    analysis === null ? null : createMarkdownLink('Analysis steps', links.run(analysis.id)),
    formatDurationWords(seconds),
    cost > 0 ? `$${cost.toFixed(cost < 0.01 ? 4 : 2)}`.replace('$', '&#36;') : null,
  ];
  return `<sub>${parts.filter((part) => part !== null).join(' · ')}</sub>`;
}

function describeWrong(page: string | null): string | null {
  const link = createMarkdownLink('Correct it', page);
  return link === null ? null : `Wrong? ${link}. The correction improves future answers`;
}

function renderCouldNotLook(
  toSay: Extract<ToSay, { state: 'could-not-look' }>,
  links: NoticeLinks,
): string[] {
  const { builds, causes, unread, why } = toSay;
  const what = unread
    ? `**${formatNames(builds)} failed. Faultline could not read ${builds.length === 1 ? 'its log' : 'their logs'}**`
    : `**${countWords(causes.length, false)}. Faultline could not analyze ${causes.length === 1 ? 'it' : 'them'}**`;
  const reason = why === '' ? '' : ` (${toInline(clip(why.replace(/\.$/, ''), 300))})`;
  const [first] = builds;
  const known = first === undefined ? null : createMarkdownLink('Details', links.build(first.id));
  return [
    `${what}${reason}.${unread ? '' : ` · ${formatNames(builds)}`}${known === null ? '' : ` ${known}`}`,
  ];
}

function renderGoneLine({ build, fixedBy, failures }: FailedBefore): string {
  const many = failures > 1 ? `All ${countWords(failures, false)}` : 'The failure';
  return `**${many} of ${toCodeSpan(buildName(build))} ${failures > 1 ? 'are' : 'is'} fixed in ${toCodeSpan(buildName(fixedBy))}.**`;
}

function renderFixed(failedBefore: FailedBefore, links: NoticeLinks): string {
  const { causes } = failedBefore;
  const headline = renderGoneLine(failedBefore);
  if (causes.length === 0) return headline;
  const blocks = causes.slice(0, 20).map(({ id, category, answer }) => {
    const link = createMarkdownLink('more', links.analysis(id));
    const title = `${toInline(clip(answer.title, 200))} (${nameCategory(category)})`;
    return `- ${title}${link === null ? '' : ` · ${link}`}`;
  });
  const summary = `<summary>${causes.length} cause${causes.length === 1 ? '' : 's'}: what ${causes.length === 1 ? 'it was' : 'they were'}</summary>`;
  return [headline, `<details>${summary}`, blocks.join('\n'), '</details>'].join('\n\n');
}

function formatNames(builds: readonly Build[]): string {
  const names = builds.slice(0, MAX_NAMED_BUILDS).map((build) => toCodeSpan(buildName(build)));
  const more = builds.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function formatCommit(builds: readonly Build[]): string {
  const [commit, ...others] = new Set(builds.map(({ commit }) => commit));
  return commit && others.length === 0 ? ` · ${toInline(shortenCommit(commit))}` : '';
}

function renderBuildLink(builds: readonly Build[], links: NoticeLinks): string {
  const link = builds[0] === undefined ? null : createMarkdownLink('in Faultline', links.build(builds[0].id));
  return link === null ? '' : ` ${link}`;
}

interface FittedParts<Cause> {
  readonly full: (cause: Cause, index: number) => string;
  readonly line: (cause: Cause, index: number) => string;
  /** Returns the sentence that says how many are omitted. */
  readonly more: (count: number) => string;
  /** The maximum number of characters of all together. */
  readonly budget: number;
}

/**
 * The share of the budget that one-line causes may take, so that the highest-ranked cause is shown in full.
 */
const FOR_LINES = 0.4;
/** The number of characters between two blocks of Markdown, and for the sentence about the omitted causes. */
const BETWEEN = 2;
const MORE = 200;

/**
 * Fits the ranked causes into the budget. The lowest-ranked causes are reduced to one line first. If even the
 * lines are too many, the last ones are only counted.
 */
function fitCauses<Cause>(
  causes: readonly Cause[],
  { full, line, more, budget }: FittedParts<Cause>,
): string[] {
  const lines = causes.map(line);
  let left = budget * FOR_LINES;
  const listed = lines.findIndex((other) => {
    left -= other.length + BETWEEN;
    return left < 0;
  });
  const count = listed < 0 ? causes.length : Math.max(1, listed);
  let spare = budget - MORE - sumNumbers(lines.slice(0, count).map(({ length }) => length + BETWEEN));
  const blocks: string[] = [];
  let isFull = true;
  for (const [index, cause] of causes.slice(0, count).entries()) {
    const short = lines[index] ?? '';
    const whole: string = isFull ? full(cause, index) : short;
    isFull &&= whole.length - short.length <= spare;
    blocks.push(isFull ? whole : short);
    if (isFull) spare -= whole.length - short.length;
  }
  return count < causes.length ? [...blocks, more(causes.length - count)] : blocks;
}
