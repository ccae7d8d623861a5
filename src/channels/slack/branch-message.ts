import { shortenCommit } from '../../domain/build.ts';
import { append, sumNumbers } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import type { AnswerFact } from '../../notifications/answer-view.ts';
import { countWords, createNoticeLinks } from '../../notifications/notice-words.ts';
import type { CauseFacts, GreenFacts, RedFacts, SlackFacts } from './branch-facts.ts';
import {
  RIGHT_BUTTON,
  type SlackBlock,
  type SlackButton,
  type SlackMessage,
  toSlackLine,
  toSlackProse,
  WRONG_BUTTON,
} from './message.ts';

/** Builds of a branch that failed in a row. */
export interface Streak {
  /** The id of the first of them, which identifies the change from green to red. */
  readonly firstBuildId: string;
  readonly since: string;
  readonly commit: string | null;
  readonly author: string | null;
  /** The number of builds with the first cause today, including this one. */
  readonly seenToday: number;
}

export interface SlackLinks {
  /** The public address of Faultline. If it is null, only the build's own links are shown. */
  readonly publicUrl: string | null;
  /** True if decisions made with the Right and Wrong buttons can be received. */
  readonly decides: boolean;
}

/** The maximum number of causes with their lines and buttons. Further ones are only counted. */
const MAX_CAUSES = 8;

/** Creates the message of a branch: red with its causes, or green again. */
export function createSlackMessage(facts: SlackFacts, streak: Streak, links: SlackLinks): SlackMessage {
  return facts.state === 'red'
    ? createRedMessage(facts, streak, links)
    : createGreenMessage(facts, streak, links);
}

function createRedMessage(
  { build, causes, notLooked }: RedFacts,
  streak: Streak,
  links: SlackLinks,
): SlackMessage {
  const [first, ...others] = causes;
  const branch = toSlackProse(build.branch, 100);
  const where = describePlace(build, streak, causes);
  if (first === undefined) {
    const why = `Faultline: not analyzed, ${toSlackProse(notLooked ?? 'no answer was produced', 300)}`;
    const text = `${branch} is red`;
    return {
      text,
      blocks: [
        { text: `:red_circle: *${text}*\n${where}\n${why}` },
        ...renderButtons([openBuild(build.url)]),
      ],
    };
  }
  const headline = others.length === 0 ? createHeadline(first, branch) : createSharedHeadline(causes, branch);
  const body = [
    where,
    ...(others.length === 0 ? [] : [numberCause(first, 1)]),
    ...listLines(first, streak.seenToday),
  ];
  const blocks: SlackBlock[] = [
    { text: [headline.marked, ...body].join('\n') },
    ...createButtons(first, links),
  ];
  for (const [index, cause] of others.slice(0, MAX_CAUSES - 1).entries()) {
    const lines = [numberCause(cause, index + 2), ...listLines(cause, 1)];
    append(blocks, [{ text: lines.join('\n') }, ...createButtons(cause, links)]);
  }
  const left = causes.length - MAX_CAUSES;
  if (left > 0) blocks.push({ text: `… ${formatCount(left, 'more cause')}` });
  return { text: headline.plain, blocks };
}

function createGreenMessage(
  { build, causes, fixedAt }: GreenFacts,
  streak: Streak,
  links: SlackLinks,
): SlackMessage {
  const span = formatSpan(streak.since, fixedAt);
  const headline = `${toSlackProse(build.branch, 100)} is green again after ${span}`;
  const [first, ...others] = causes;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const was = first === undefined ? '' : ` (was: ${formatTitle(first)}${more})`;
  const open = first === undefined ? openBuild(build.url) : openAnalysis(first, links);
  return {
    text: `${headline}${was}`,
    blocks: [{ text: `:large_green_circle: *${headline}*${was}` }, ...renderButtons([open])],
  };
}

interface Headline {
  readonly marked: string;
  readonly plain: string;
}

function createHeadline(cause: CauseFacts, branch: string): Headline {
  if (cause.isSure || cause.decision !== null) {
    const plain = `${branch} is red: ${formatTitle(cause)}`;
    return {
      plain: `${plain} ${formatCertainty(cause)}`,
      marked: `:red_circle: *${plain}* ${formatCertainty(cause)}`,
    };
  }
  const plain = `${branch} is red, cause not certain (${toSlackLine(cause.howSure, 20)})`;
  return {
    plain,
    marked: `:large_yellow_circle: *${plain}*\nPossibly: ${formatTitle(cause)} (${toSlackLine(cause.category, 40)})`,
  };
}

function createSharedHeadline(causes: readonly CauseFacts[], branch: string): Headline {
  const isCertain = causes.every(({ isSure, decision }) => isSure || decision !== null);
  const plain = `${branch} is red for ${causes.length} reasons`;
  return { plain, marked: `${isCertain ? ':red_circle:' : ':large_yellow_circle:'} *${plain}*` };
}

/** Formats one of several causes: "*2.* Rounds each item (Test failure, 91 %) · 3 tests". */
function numberCause(cause: CauseFacts, number: number): string {
  const failures = countWords(cause.failures, cause.areTests);
  return `*${number}.* ${formatTitle(cause)} ${formatCertainty(cause)} · ${failures}`;
}

/** Formats the category and confidence, "(Test failure, 91 %)", or a person's decision. */
function formatCertainty({ category, howSure: sure, decision }: CauseFacts): string {
  if (decision?.type === 'correct') return `(${toSlackLine(category, 40)}, corrected)`;
  const certainty = decision?.type === 'accept' ? 'confirmed' : toSlackLine(sure, 150);
  return `(${toSlackLine(category, 40)}, ${certainty})`;
}

function describePlace(
  build: RedFacts['build'],
  { since, commit, author }: Streak,
  causes: readonly CauseFacts[],
): string {
  const by = author === null ? '' : ` by ${toSlackLine(author, 100)}`;
  const failures = sumNumbers(causes.map((cause) => cause.failures));
  const areTests = causes.every((cause) => cause.areTests);
  return [
    `${toSlackLine(build.repository, 200)} ${toSlackLine(build.pipeline, 100)} #${toSlackLine(build.number, 50)}`,
    `since ${formatSlackTime(since)}`,
    ...(commit === null ? [] : [`first failing commit ${toSlackLine(shortenCommit(commit), 20)}${by}`]),
    ...(causes.length === 0 ? [] : [countWords(failures, areTests)]),
  ].join(' · ');
}

function listLines(cause: CauseFacts, seenToday: number): string[] {
  const { whose, facts, decision } = cause;
  const rejected = decision?.type === 'reject';
  return [
    ...(whose === '' || rejected ? [] : [toSlackProse(whose, 700)]),
    ...facts.filter(({ kind }) => kind === 'lines').flatMap(formatFactLine),
    ...facts.filter(({ kind }) => kind !== 'lines' && !rejected).flatMap(formatFactLine),
    ...(seenToday > 1 ? [`seen ${seenToday}× today`] : []),
    ...(decision === null ? [] : [formatDecidedLine(decision)]),
  ];
}

/** Formats a fact on one line: the first line of a log, or all values of any other fact. */
function formatFactLine(fact: AnswerFact): string[] {
  if (fact.kind !== 'lines') return [`${fact.label}: ${toSlackProse(fact.values.join(' · '), 500)}`];
  return fact.lines.slice(0, 1).map(({ text, line }) => `> ${toSlackLine(text, 300)}  (line ${line})`);
}

function formatDecidedLine({ type, by, at, category }: NonNullable<CauseFacts['decision']>): string {
  const who = `by ${toSlackLine(by, 100)} ${formatSlackTime(at)}`;
  if (type === 'accept') return `:white_check_mark: confirmed ${who}`;
  if (type === 'correct') return `:pencil2: corrected to ${toSlackLine(category, 40)} ${who}`;
  return `:x: marked wrong ${who}`;
}

function createButtons(cause: CauseFacts, links: SlackLinks): SlackBlock[] {
  const { publicUrl, decides } = links;
  const undecided = cause.decision === null;
  const review = undecided && !cause.isSure ? cause.reviewId : null;
  const decide =
    review === null
      ? null
      : linkButton('faultline_decide', 'Decide', createNoticeLinks(publicUrl).review(review));
  const verdicts: SlackButton[] =
    decides && undecided
      ? [
          { id: RIGHT_BUTTON, label: 'Right', value: cause.analysisId, style: 'primary' },
          { id: WRONG_BUTTON, label: 'Wrong…', value: cause.analysisId },
        ]
      : [];
  return renderButtons([openAnalysis(cause, links), decide, ...verdicts]);
}

function openAnalysis({ analysisId }: CauseFacts, { publicUrl }: SlackLinks): SlackButton | null {
  return linkButton('faultline_open', 'Open', createNoticeLinks(publicUrl).analysis(analysisId));
}

function openBuild(url: string | null): SlackButton | null {
  return linkButton('faultline_open', 'Open', url !== null && /^https?:\/\//.test(url) ? url : null);
}

function linkButton(id: string, label: string, url: string | null): SlackButton | null {
  return url === null ? null : { id, label, url };
}

function renderButtons(wanted: readonly (SlackButton | null)[]): SlackBlock[] {
  const visible = wanted.filter((button) => button !== null);
  return visible.length === 0 ? [] : [{ buttons: visible }];
}

function formatTitle({ title }: CauseFacts): string {
  return toSlackProse(title, 200) || 'no title';
}

/** Formats the time between two moments: "41 min", "2 h 5 min", "3 days". */
function formatSpan(from: string, to: string): string {
  const minutes = Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** Formats a time that each reader sees in their own time zone, with UTC as the fallback. */
function formatSlackTime(time: string): string {
  const date = new Date(time);
  return `<!date^${Math.floor(date.getTime() / 1000)}^{time}|${date.toISOString().slice(11, 16)} UTC>`;
}
