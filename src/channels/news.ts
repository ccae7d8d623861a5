import type { Analysis } from '../domain/analysis.ts';
import { type Build, shortenCommit } from '../domain/build.ts';
import type { CauseState } from '../domain/cause.ts';
import { findOwnerChannels, type OwnerChannels } from '../domain/notification-rule.ts';
import { cutAtWord, formatCount } from '../lib/text.ts';
import { MAX_TITLE } from '../log/title.ts';
import { type AnswerFact, answerView } from '../notifications/answer-view.ts';
import { arrangeAnswers } from '../notifications/build-answers.ts';
import { type CauseStanding, getCauseStanding } from '../notifications/cause-standing.ts';
import { buildName, createNoticeLinks, describeStanding } from '../notifications/notice-words.ts';
import { createWhoseLine, formatWhoseSentence } from '../notifications/whose-line.ts';
import type { NoticeStore } from '../stores/notices.ts';
import type { Match } from '../stores/notification-rules.ts';

/**
 * The information that a rule sends about one cause. All texts are raw: each channel cuts and escapes them.
 */
export interface NewsItem {
  /** The new state of the cause; null if a build failed with it. */
  readonly state: CauseState | null;
  readonly title: string;
  /** "Test failure, 3 tests, 91 %", or the person who decided. */
  readonly standing: string;
  /** "shop/api ci #812 on main, a41f9c2 by ada" */
  readonly place: string;
  readonly facts: readonly { readonly label: string; readonly text: string }[];
  /** The number of answers about this cause in the same message. */
  readonly seen: number;
  readonly links: { readonly answer: string | null; readonly build: string | null };
  readonly build: Build;
  readonly analysis: Analysis;
}

/** A message of a rule, before a channel formats it. */
export interface News {
  readonly rule: { readonly id: string; readonly name: string };
  /** Unescaped, on one line. */
  readonly headline: string;
  readonly isTest: boolean;
  readonly items: readonly NewsItem[];
  /** The number of causes that are not among the items. */
  readonly more: number;
  /** The owners to mention, by the ids that people configured. */
  readonly mentions: readonly OwnerChannels[];
}

/** The maximum number of causes that are shown. Further ones are only counted. */
const MAX_ITEMS = 10;

export interface NewsDeps {
  readonly notices: Pick<NoticeStore, 'situation'>;
  readonly publicUrl: string | null;
}

interface NewsOf {
  readonly rule: { readonly id: string; readonly name: string; readonly mention: boolean };
  readonly matches: readonly Match[];
  readonly owners: readonly OwnerChannels[];
  readonly isTest: boolean;
}

/**
 * Reads the current state of everything that a message is about. Of several answers about one cause, the
 * newest is used. Returns null if none of it is stored any more.
 */
export async function readNews(
  { rule, matches, owners, isTest }: NewsOf,
  deps: NewsDeps,
): Promise<News | null> {
  const causes = [
    ...Map.groupBy(
      matches.toReversed(),
      ({ repository, fingerprint }) => `${repository} ${fingerprint}`,
    ).values(),
  ];
  const listed = (
    await Promise.all(causes.slice(0, MAX_ITEMS).map((found) => readItems(found, deps)))
  ).flat();
  const [first] = listed;
  if (first === undefined && !isTest) return null;
  const mentions = rule.mention
    ? owners.filter((owner) =>
        listed.some(({ analysis }) => findOwnerChannels(analysis.owner ?? null, owners).includes(owner)),
      )
    : [];
  const headline =
    first === undefined
      ? `Test of the rule ${rule.name}`
      : causes.length === 1
        ? cutAtWord(formatHead(first), MAX_TITLE)
        : `${cutAtWord(`${formatCount(causes.length, 'cause')}: ${formatHead(first)}`, MAX_TITLE - 3)}, …`;
  return {
    rule: { id: rule.id, name: rule.name },
    headline,
    isTest,
    items: listed,
    more: Math.max(0, causes.length - MAX_ITEMS),
    mentions,
  };
}

function formatHead({ state, title }: NewsItem): string {
  return state === null ? title : `${formatStateWord(state)}: ${title}`;
}

/** Formats a state: "New", "Fixed". */
export function formatStateWord(state: CauseState): string {
  return `${state.charAt(0).toUpperCase()}${state.slice(1)}`;
}

/**
 * Creates one item from all matches of a cause. The matches must be sorted, the newest first. Returns no item
 * if the build is deleted.
 */
async function readItems(found: readonly Match[], { notices, publicUrl }: NewsDeps): Promise<NewsItem[]> {
  const { analysisId, buildId } = found[0] ?? { analysisId: '', buildId: '' };
  const state = found.find((match) => match.state !== null)?.state ?? null;
  const situation = await notices.situation({ type: 'build', buildId });
  const [head] = situation.heads;
  const cause = arrangeAnswers(head?.causes ?? []).find(({ analysis }) => analysis.id === analysisId);
  if (head === undefined || cause === undefined) return [];
  const standing = getCauseStanding(cause, head.build);
  const links = createNoticeLinks(publicUrl);
  const raw = (text: string) => text;
  const item = {
    state,
    title: standing.title.trim() === '' ? 'No title' : standing.title,
    standing: describeStanding(standing, { plain: raw, code: raw }),
    place: formatPlace(head.build),
    facts: state === 'fixed' ? [] : listFacts(standing),
    seen: found.length,
    links: { answer: links.analysis(analysisId), build: toWebAddress(head.build.url) },
    build: head.build,
    analysis: cause.analysis,
  };
  return [item];
}

function toWebAddress(url: string | null): string | null {
  return url !== null && /^https?:\/\//.test(url) ? url : null;
}

function formatPlace(build: Build): string {
  const { repository, branch, pullRequest, author, commit } = build;
  return [
    `${repository} ${buildName(build)}${branch === null ? '' : ` on ${branch}`}`,
    ...(pullRequest === null ? [] : [`pull request ${pullRequest}`]),
    ...(commit === null ? [] : [`${shortenCommit(commit)}${author === null ? '' : ` by ${author}`}`]),
  ].join(', ');
}

/** Lists the facts of an answer that every output shows. A person's decision replaces the original text. */
function listFacts({
  cause: { analysis, explains },
  rootCause,
  fix: fixRecommendation,
  form,
  whose,
}: CauseStanding): NewsItem['facts'] {
  const { facts } = answerView(
    { ...analysis, answer: { ...analysis.answer, rootCause, fixRecommendation } },
    undefined,
    explains,
  );
  const visibleFacts = facts.filter(
    ({ reach, name }) => reach === 'everywhere' && (form !== 'rejected' || name === 'Evidence'),
  );
  const verdict = {
    label: createWhoseLine(whose).question.replace('?', ''),
    text: formatWhoseSentence(whose),
  };
  return [verdict].concat(visibleFacts.map(toNewsFact));
}

function toNewsFact(fact: AnswerFact): NewsItem['facts'][number] {
  const lines =
    fact.kind === 'lines'
      ? fact.lines.slice(0, 1).map(({ text, line }) => `${text} (line ${line})`)
      : fact.values;
  return { label: fact.label, text: lines.join(' · ') };
}
