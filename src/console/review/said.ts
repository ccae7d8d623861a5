import { z } from 'zod';
import type { ShownStores } from '../../ports/stores.ts';

const count = z.coerce.number().int().min(0).max(10_000).optional().catch(undefined);

/** What was just done, as the address of the next page carries it. */
export const Said = z.object({
  /** The review that was decided. */
  done: z.string().max(100).optional(),
  /** Others that were decided with it. */
  also: count,
  /** How many decisions were taken back. */
  undone: count,
  skipped: z.literal('1').optional().catch(undefined),
  released: z.literal('1').optional().catch(undefined),
  answered: z.literal('1').optional().catch(undefined),
});
export type Said = z.infer<typeof Said>;

/** One sentence about it; null where nothing was done. `n` is the number of the item that comes now. */
export async function sentenceOf(said: Said, { reviews }: Pick<ShownStores, 'reviews'>, n: number | undefined): Promise<string | null> {
  const item = `Item ${Math.max(1, (n ?? 2) - 1)}`;
  if (said.undone !== undefined) return undoneWords(said.undone);
  if (said.skipped !== undefined) return `${item}: skipped. It stays in the queue.`;
  if (said.released !== undefined) return 'Released. It stays in the queue.';
  if (said.answered !== undefined) return 'Answered. The analysis continues.';
  if (said.done === undefined) return null;
  const decision = (await reviews.find(said.done))?.decision ?? null;
  if (decision === null) return null;
  const did = { accept: 'accepted', correct: `corrected to ${decision.category}`, reject: 'rejected' }[decision.type];
  const others = said.also === undefined || said.also === 0 ? '' : ` and ${said.also} more with the same fingerprint`;
  return `${item}${others}: ${did}. Press u to undo.`;
}

function undoneWords(count: number): string {
  if (count === 0) return 'That was already undone.';
  return count === 1 ? 'Undone. The item is back in the queue.' : `Undone. All ${count} items are back in the queue.`;
}
