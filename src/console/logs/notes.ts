import type { Analysis } from '../../domain/analysis.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../parts/icons.ts';
import { inlineProse } from '../prose.ts';
import { type EvidenceLines, hasWords, type ReadStretch } from './rows.ts';

/** Claims that may be shown below lines of one log. */
interface Noted {
  /** The name of the log. */
  readonly name: string;
  readonly evidence: readonly Pick<EvidenceLines, 'id' | 'cited'>[];
  /** The text of each claim, or an empty string if it is not shown. */
  readonly claims: readonly string[];
  /** True if links lead to the claims. Then ids are added, which must happen only once on a page. */
  readonly hasIds: boolean;
}

/** Assigns each claim to the last line that proves it, if that line is shown. */
export function placeNotes(
  { answer }: Pick<Analysis, 'answer'>,
  { name, evidence, claims, hasIds }: Noted,
  read: readonly ReadStretch[],
) {
  const visible = new Set(read.flatMap(({ lines }) => lines.filter(hasWords).map(({ number }) => number)));
  const notes = new Map<number, readonly Html[]>();
  const noted = new Set<number>();
  for (const [index, claim] of answer.claims.entries()) {
    const text = claims[index] ?? '';
    const quoted = claim.quotes.filter(({ source }) => source === name).map(({ line }) => line);
    const cited = evidence.filter(({ id }) => claim.evidence.includes(id));
    const lines = quoted.length > 0 ? quoted : cited.flatMap((item) => item.cited);
    const line = lines.filter((other) => visible.has(other)).at(-1);
    if (text === '' || line === undefined) continue;
    noted.add(index);
    const note = html`<li class="note"${hasIds && html` id="claim-${index + 1}"`}><p>${icon('pin')}<span>${inlineProse(
      text,
    )}</span></p></li>`;
    notes.set(line, [...(notes.get(line) ?? []), note]);
  }
  return { notes, noted };
}

/** Lists the specific words of a title: values, quoted names, paths and identifiers. */
export function listContentWords(title: string): string[] {
  const quoted = [...title.matchAll(/[“"`']([^“”"`']{2,60})[”"`']/g)].map(([, inner]) => inner ?? '');
  const words = title.split(/[\s“”"`',;()]+/).map((word) => word.replace(/[.:…]{1,10}$/, ''));
  return [...quoted, ...words.filter((word) => word.length > 1 && /[\d/_.@]|\p{Ll}\p{Lu}/u.test(word))];
}
