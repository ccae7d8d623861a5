import { styleText } from 'node:util';
import { CATEGORIES } from '../../domain/category.ts';
import { RejectReason, type Review, type ReviewCounts } from '../../domain/review.ts';
import { proofLines } from '../../publish/answer-facts.ts';
import { renderTerminal } from '../../publish/render.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import type { Item } from './client.ts';
import { KEYS } from './keys.ts';

export interface ReviewLook {
  readonly color: boolean;
  readonly width: number;
}

const REASONS: Readonly<Record<RejectReason, string>> = {
  evidence_does_not_support: 'The evidence does not support it',
  right_category_wrong_cause: 'Right category, wrong cause',
  not_a_failure: 'Not a failure',
  cannot_be_told: 'Cannot tell from this log',
};
const MAX_EACH = 4;

/** One item whole: where it is from, the answer, why a person is asked, what speaks against it. */
export function itemText({ review, analysis }: Item, counts: ReviewCounts, look: ReviewLook): string {
  const against = [...analysis.verdict.unsupportedClaims.map((claim) => `no evidence for: ${claim}`), ...analysis.verdict.gaps];
  return [
    headText(review, counts, look),
    renderTerminal(analysis, look).trimEnd(),
    ...rowsOf('Reason', review.why),
    ...rowsOf('Against', against),
    footText(look),
  ].join('\n');
}

/** Before a blind item's verdict may be seen: the lines of the log, and nothing that a machine concluded. */
export function blindText({ review, analysis }: Item, counts: ReviewCounts, look: ReviewLook): string {
  const logs = analysis.evidence.filter(({ tool }) => tool === 'log');
  const lines = proofLines({ ...analysis, evidence: logs, answer: { ...analysis.answer, claims: [] } });
  return [
    rule(`${visibleLine(review.repository)} · ${counts.waiting} waiting`, look),
    ...lines.map(({ line, text }) => `${String(line).padStart(8)}  ${visibleLine(text)}`),
    `Which category is it? The answer is shown afterwards.\n${categoryChoices()}   q quit`,
  ].join('\n');
}

export function categoryChoices(): string {
  return CATEGORIES.map((category, index) => `${index + 1} ${category}`).join('   ');
}

export function reasonChoices(): string {
  return RejectReason.options.map((reason, index) => `${index + 1} ${REASONS[reason]}`).join('   ');
}

/** The keys that work here. */
export function footText({ color }: Pick<ReviewLook, 'color'>): string {
  const words = KEYS.map(({ key, action }) => `${key} ${action}`).join('   ');
  return color ? styleText('dim', words, { validateStream: false }) : words;
}

export function helpText(): string {
  const rows = KEYS.map(({ key, does }) => `  ${key}  ${does}`);
  return `${rows.join('\n')}\nEnter, Space and Backspace never decide.`;
}

/** "The queue is empty. 17 decided today, 96 % agreed with Faultline." */
export function emptyText({ decidedToday, agreedToday }: ReviewCounts): string {
  if (decidedToday === 0) return 'The queue is empty.';
  return `The queue is empty. ${decidedToday} decided today, ${Math.floor((agreedToday / decidedToday) * 100)} % agreed with Faultline.`;
}

function headText({ repository, pullRequest, id }: Review, { waiting }: ReviewCounts, look: ReviewLook): string {
  const pull = pullRequest === null ? '' : ` · PR ${pullRequest}`;
  return rule(`${visibleLine(repository)}${pull} · ${id} · ${waiting} waiting`, look);
}

function rule(title: string, { width }: ReviewLook): string {
  return `── ${title} ${'─'.repeat(Math.max(0, width - title.length - 4))}`;
}

function rowsOf(key: string, values: readonly string[]): string[] {
  return values.slice(0, MAX_EACH).map((value, index) => `${(index === 0 ? key : '').padEnd(9)}${visibleLine(value)}`);
}
