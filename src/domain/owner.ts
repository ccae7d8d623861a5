import { z } from 'zod';

/** Whose a file is, and who says so. */
export const Owner = z.object({
  path: z.string(),
  /** The path as the log or the report wrote it; absent where that is the same. */
  as: z.string().optional(),
  /** "@shop/payments" as CODEOWNERS writes it, or the name of an author; never a whole e-mail address. */
  names: z.array(z.string()).min(1),
  by: z.enum(['codeowners', 'last-change']),
  /** The line of CODEOWNERS (".github/CODEOWNERS:12"), or the commit; null where no commit is known. */
  at: z.string().nullable(),
});
export type Owner = z.infer<typeof Owner>;

/** "@shop/payments (from .github/CODEOWNERS:12)", "Ada (last changed src/cart/tax.ts in a41f9c2)". */
export function ownerSentence({ names, by, at, path }: Owner): string {
  const why = by === 'codeowners' ? `from ${at}` : `last changed ${path}${at === null ? '' : ` in ${at.slice(0, 7)}`}`;
  return `${names.join(', ')} (${why})`;
}

/** What an owner is searched for by: "@Shop/Payments" → "shop/payments". */
export function ownerKey(name: string): string {
  return name
    .trim()
    .replace(/^@{1,2}/, '')
    .toLowerCase();
}
