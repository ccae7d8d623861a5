import { z } from 'zod';
import { Category, Kind } from '../../domain/category.ts';
import { DecisionInput, DecisionType, RejectReason, type ShownBy } from '../../domain/review.ts';
import type { Typed } from './item-view.ts';
import { CarriedQueue } from './queue-query.ts';

const blankless = (most: number) =>
  z
    .string()
    .max(most)
    .default('')
    .transform((text) => (text.trim() === '' ? undefined : text));
/** A field that comes once, several times, or not at all. */
const several = z.union([z.string().transform((one) => [one]), z.array(z.string())]).default([]);

/** A decision as its forms send it. */
export const DecisionForm = z.object({
  type: DecisionType,
  version: z.coerce.number().int().min(0),
  queue: CarriedQueue,
  openedAt: z.iso.datetime().optional(),
  armed: z.literal('1').optional(),
  category: Category.optional(),
  kind: z.union([z.literal('').transform(() => undefined), Kind]).optional(),
  rootCause: blankless(4000),
  fixRecommendation: blankless(4000),
  reason: blankless(4000),
  reasonCode: RejectReason.optional(),
  evidence: several,
  none: z.literal('1').optional(),
  lines: z.string().max(400).default(''),
  source: z.string().max(300).default(''),
  alsoFor: z.enum(['', 'same-fingerprint']).default(''),
  also: several,
});
export type DecisionForm = z.infer<typeof DecisionForm>;

const RANGE = /^(\d{1,9})(?:[-–](\d{1,9}))?$/;

/** The decision that a form states. A correction that names nothing that shows it says so. */
export function inputOf(form: DecisionForm): DecisionInput {
  const { type, category, kind, rootCause, fixRecommendation, reason, reasonCode, openedAt } = form;
  const correction = type === 'correct' ? { category, kind, rootCause, fixRecommendation, shownBy: shownBy(form) } : {};
  const rejection = type === 'reject' ? { reason, reasonCode } : {};
  const given = Object.entries({ type, openedAt, ...correction, ...rejection }).filter(([, value]) => value !== undefined);
  return DecisionInput.parse(Object.fromEntries(given));
}

function shownBy({ evidence, lines, source, none }: DecisionForm): ShownBy {
  const ranges = source === '' ? [] : lines.split(/[,\s]/).flatMap((part) => rangeOf(part, source));
  if (none === '1' || evidence.length + ranges.length === 0) return 'none';
  return { evidence: evidence.slice(0, 50), lines: ranges.slice(0, 20) };
}

function rangeOf(text: string, source: string) {
  const [, from, to] = RANGE.exec(text.trim()) ?? [];
  const lineStart = Number(from ?? 0);
  return lineStart < 1 ? [] : [{ source, lineStart, lineEnd: Number(to ?? from) }];
}

/** What was typed, to be shown again where it could not be saved. */
export function typedOf({ category, kind, rootCause, fixRecommendation, reason, evidence, lines, none, alsoFor }: DecisionForm): Typed {
  const given = { category, kind, rootCause, fixRecommendation, reason };
  const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...kept, evidence, lines, none: none === '1', same: alsoFor === 'same-fingerprint' };
}
