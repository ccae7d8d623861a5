import type { ReplayedCase } from '../run/replay.ts';
import { caseShare, type Figure } from './figure.ts';
import { isRight, judgedCases } from './judged.ts';

/** In the order of how much a person still has to do. */
const ACTIONS = ['auto_notify', 'human_review', 'web_search', 'self_correct'];

/** What was done with the answers: how often each action was taken, and, of cases with a label, what would stand published wrongly. Empty where nothing was answered. */
export function scoreActions(cases: readonly ReplayedCase[]): Figure[] {
  const answered = cases.filter((one) => one.result.action !== null).map((one) => ({ one }));
  if (answered.length === 0) return [];
  const others = new Set(answered.map(({ one }) => one.result.action ?? '').filter((action) => !ACTIONS.includes(action)));
  const shares = [...ACTIONS, ...[...others].sort()].map((action) =>
    caseShare(`action: ${action}`, answered, ({ one }) => one.result.action === action, 'neither'),
  );
  return [...shares.filter(({ value }) => value > 0), ...scorePublished(cases)];
}

/** Of the cases with a label: how many would be published without a person, how many of these are right, and how many of all are published and wrong. */
function scorePublished(cases: readonly ReplayedCase[]): Figure[] {
  const judged = judgedCases(cases);
  if (judged.length === 0) return [];
  const isPublished = ({ one }: { readonly one: ReplayedCase }) => one.result.action === 'auto_notify';
  const published = judged.filter(isPublished);
  return [
    caseShare('published: coverage', judged, isPublished),
    ...(published.length === 0 ? [] : [caseShare('published: accuracy', published, isRight)]),
    caseShare('published and wrong', judged, (entry) => isPublished(entry) && !isRight(entry), 'bad'),
  ];
}
