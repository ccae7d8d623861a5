import type { Analysis } from '../domain/analysis.ts';
import { shortenCommit } from '../domain/build.ts';
import { findSuggestedFix } from '../domain/experiment.ts';
import { findMax, findMin } from '../lib/collections.ts';
import { toSentence } from '../lib/text.ts';
import { formatFactBlock } from './answer-markdown.ts';
import { type AnswerView, answerView, formatPlace, listProofLines } from './answer-view.ts';
import { nameTests } from './build-answers.ts';
import type { CauseStanding } from './cause-standing.ts';
import { buildName, createMarkdownLink, describeStanding, type NoticeLinks } from './notice-words.ts';
import { clip, fence, formatNumber, toCodeSpan, toHtml, toInline } from './visible-text.ts';
import { createWhoseLine, joinParts, type WhosePart } from './whose-line.ts';

const MAX_TITLE = 200;
const MAX_PROSE = 1_500;
const MAX_TESTS = 6;
const MAX_DIFF_LINES = 100;
const MAX_DIFF = 6_000;

interface Shown {
  /** The number of the cause among several. Null if it is the only one. */
  readonly number: number | null;
  /** True if several builds have failed, so that each cause names its own build. */
  readonly several: boolean;
  readonly links: NoticeLinks;
}

/** Renders one cause as a collapsible block. It is open if a person has to read it. */
export function renderCommentCause(standing: CauseStanding, { number, several, links }: Shown): string {
  const { form, needsYou, build } = standing;
  const open = needsYou || form === 'unsure' || form === 'rejected' ? ' open' : '';
  const summary = `<summary><b>${formatTitle(standing, number)}</b>: ${describeStanding(standing, { plain: toHtml, code: toHtml })}</summary>`;
  const { analysis } = standing.cause;
  const answer = { ...analysis.answer, rootCause: standing.rootCause, fixRecommendation: standing.fix };
  const view = answerView({ ...analysis, answer: answer }, undefined, standing.cause.explains);
  // The tests are named below, even for a single failure.
  const visibleFacts = view.facts.filter(({ reach, kind }) => reach === 'everywhere' && kind !== 'tests');
  const blocks = [
    `<details${open}>${summary}`,
    renderWhose(standing, links),
    ...renderExplained(standing, view),
    ...visibleFacts.filter(({ kind }) => kind !== 'prose').map((fact) => formatFactBlock(fact)),
    form === 'rejected' ? '' : renderFixingChange(analysis),
    [
      ...(several ? [toCodeSpan(buildName(build))] : []),
      ...listReferences(standing, number !== null, links),
    ].join(' · '),
    '</details>',
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Renders one cause as one line, without its details. */
export function renderCommentCauseLine(standing: CauseStanding, number: number | null): string {
  const place = number === null ? '' : `${number}\\. `;
  return `**${place}${toInline(clip(standing.title, 120))}**: ${describeStanding(standing, { plain: toInline, code: toCodeSpan })}`;
}

function formatTitle({ title: text, form, cause }: CauseStanding, number: number | null): string {
  const fits = cause.analysis.answer.hypotheses.length;
  const words = form === 'unsure' && fits > 1 ? `${fits} explanations fit` : clip(text, MAX_TITLE);
  return `${number === null ? '' : `${number}. `}${toHtml(words)}`;
}

/**
 * Renders the cause and the fix. If the answer is not confident and several explanations fit, renders those.
 */
function renderExplained(standing: CauseStanding, { facts }: AnswerView): string[] {
  const { reason } = standing.cause.review?.decision ?? {};
  if (standing.form === 'rejected')
    return [reason === undefined ? '' : `Why: ${toInline(clip(reason, 500))}`];
  const choices = facts.find((fact) => fact.kind === 'choices' && fact.choices.length > 1);
  if (standing.form === 'unsure' && choices !== undefined) return [formatFactBlock(choices)];
  return facts.filter(({ kind }) => kind === 'prose').map((fact) => formatFactBlock(fact, MAX_PROSE));
}

/** Renders the verdict line: "**Is it me? Not known yet.** Run it again." */
function renderWhose({ whose }: CauseStanding, links: NoticeLinks): string {
  const { question, answer, proof, act } = createWhoseLine(whose);
  const show = (part: Exclude<WhosePart, string>) => renderPart(part, links);
  const because = proof.length === 0 ? '.' : `: ${toSentence(joinParts(proof, show))}`;
  return `**${question} ${answer}**${because} ${joinParts(act, show)}`;
}

function renderPart(part: Exclude<WhosePart, string>, links: NoticeLinks): string {
  if ('plain' in part) return toInline(part.plain);
  if ('code' in part) return toCodeSpan(part.code);
  const name = toCodeSpan(part.name);
  return createMarkdownLink(name, links.build(part.build.id)) ?? name;
}

/** Renders the change that was tried and fixes the failure, if the person who had it tried wants it shown. */
function renderFixingChange({ experiment }: Analysis): string {
  const fix = findSuggestedFix(experiment);
  if (fix === null) return '';
  const lines = fix.diff.trimEnd().split('\n');
  const isLong = lines.length > MAX_DIFF_LINES || fix.diff.length > MAX_DIFF;
  const listed = isLong
    ? `${fix.files.length === 1 ? '1 file' : `${fix.files.length} files`}, too long to show here`
    : fence(lines, 'diff');
  return `**Change that was tried and fixes it:**${isLong ? ' ' : '\n\n'}${listed}`;
}

function listReferences(standing: CauseStanding, isOneOfMany: boolean, links: NoticeLinks): string[] {
  const { cause, form, needsYou } = standing;
  const { analysis, explains, review } = cause;
  const decide =
    isOneOfMany && form === 'unsure' && review !== null
      ? createMarkdownLink('Decide', links.review(review.id))
      : null;
  const suspects = needsYou || form === 'unsure' ? analysis.answer.suspects.slice(0, 3) : [];
  const { named, more } = nameTests(explains, MAX_TESTS);
  const tests = named.map((name) => toCodeSpan(clip(name, 120))).join(', ');
  return [
    renderLines(standing, links),
    createMarkdownLink('All evidence', links.analysis(analysis.id)),
    decide,
    ...suspects.map((suspect) => {
      const by = suspect.commit === null ? '' : ` (${toInline(shortenCommit(suspect.commit))})`;
      return `suspect ${toCodeSpan(clip(formatPlace(suspect), MAX_TITLE))}${by}`;
    }),
    tests === '' ? null : `${tests}${more > 0 ? ` and ${formatNumber(more)} more` : ''}`,
  ].filter((part) => part !== null);
}

/** Renders a link to the quoted lines of the first quoted log, in a view that shows the lines around them. */
function renderLines({ cause, build }: CauseStanding, links: NoticeLinks): string | null {
  const quotes = listProofLines(cause.analysis);
  const source = quotes[0]?.source;
  if (source === undefined) return null;
  const numbers = quotes.filter((quote) => quote.source === source).map(({ line }) => line);
  const range = { lineStart: findMin(numbers), lineEnd: findMax(numbers) };
  return createMarkdownLink('Lines in the log', links.lines(build.id, source, range));
}
