import { CATEGORIES } from '../../domain/category.ts';
import { DecisionInput, type ShownBy } from '../../domain/review.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import type { Item } from './client.ts';
import type { KeyReader } from './keys.ts';
import { categoryChoices } from './text.ts';

export interface CorrectionParts {
  readonly keys: KeyReader;
  readonly write: (text: string) => void;
}

/** Asks for category, cause, fix and what shows it; null where the reviewer gives up. Nothing is sent but by the key y. */
export async function askCorrection({ analysis }: Item, { keys, write }: CorrectionParts): Promise<DecisionInput | null> {
  write(`${categoryChoices()}\n`);
  const category = CATEGORIES[Number(await keys.key()) - 1];
  if (category === undefined) return null;
  write(`${category}\n`);
  const rootCause = await keys.line('Cause     ', visibleLine(analysis.answer.rootCause));
  if (rootCause === null) return null;
  const fix = await keys.line('Fix       ', visibleLine(analysis.answer.fixRecommendation));
  if (fix === null) return null;
  const known = analysis.evidence.map(({ id }) => id);
  const cited = [...new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence))].filter((id) => known.includes(id));
  const shown = await keys.line(`Shown by  (${known.slice(0, 12).join(' ')}, or none)  `, cited.join(' '));
  if (shown === null) return null;
  write(`Send this correction as ${category}? Press y to send, any other key to cancel.\n`);
  if ((await keys.key()) !== 'y') return null;
  const shownBy = shownByOf(shown, known);
  return DecisionInput.parse({
    type: 'correct',
    category,
    ...(rootCause.trim() === '' ? {} : { rootCause: rootCause.trim() }),
    ...(fix.trim() === '' ? {} : { fixRecommendation: fix.trim() }),
    ...(shownBy === null ? {} : { shownBy }),
  });
}

/** "E1 E3", "none", or nothing said. */
function shownByOf(text: string, known: readonly string[]): ShownBy | null {
  if (text.trim().toLowerCase() === 'none') return 'none';
  const evidence = text
    .split(/[\s,]/)
    .map((word) => word.toUpperCase())
    .filter((word) => known.includes(word));
  return evidence.length === 0 ? null : { evidence: [...new Set(evidence)], lines: [] };
}
