import { z } from 'zod';
import { shortCommit } from './build.ts';
import { Category } from './category.ts';

/** The owner of a file, and the source of that information. */
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

/**
 * Describes an owner and the source: "@shop/payments (from .github/CODEOWNERS:12)", "Ada (last changed
 * src/cart/tax.ts in a41f9c2)".
 */
export function ownerSentence({ names, by, at, path }: Owner): string {
  const why =
    by === 'codeowners' ? `from ${at}` : `last changed ${path}${at === null ? '' : ` in ${shortCommit(at)}`}`;
  return `${names.join(', ')} (${why})`;
}

/** Returns the key by which an owner is searched: "@Shop/Payments" → "shop/payments". */
export function ownerKey(name: string): string {
  return name
    .trim()
    .replace(/^@{1,2}/, '')
    .toLowerCase();
}

/** `fixed` and `regressed` are also reached by builds of the default branch: gone from it, and back on it. */
export const CauseState = z.enum(['new', 'acknowledged', 'assigned', 'fixed', 'regressed']);
export type CauseState = z.infer<typeof CauseState>;

/** The state of a cause in one repository. */
export const Cause = z.object({
  repository: z.string(),
  fingerprint: z.string(),
  title: z.string(),
  category: Category,
  state: CauseState,
  /** The assigned person; null if the cause is unassigned. */
  assignee: z.string().nullable(),
  /** The owner by CODEOWNERS or the last change; null if no owner is known. */
  owner: Owner.nullable(),
  /** No alerts are sent before this time. Null or a past time means that the cause is not muted. */
  mutedUntil: z.iso.datetime().nullable(),
  /** Address of a ticket about it. */
  ticket: z.string().nullable(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  /** Pipelines whose default branch failed with it and has not passed since. */
  redPipelines: z.array(z.string()),
  version: z.int(),
});
export type Cause = z.infer<typeof Cause>;

/** Something that became of a cause. */
export const CauseEvent = z.object({
  at: z.iso.datetime(),
  /** Null: builds proved it. */
  by: z.string().nullable(),
  what: z.string(),
  detail: z.string().nullable(),
  buildId: z.string().nullable(),
});
export type CauseEvent = z.infer<typeof CauseEvent>;

const MAX_REASON = 500;

/** A longer mute is rejected, because it is unlikely to be intended. */
const MAX_MUTED_DAYS = 365;

/** The changes that a person can make to a cause. */
export const CauseChange = z.discriminatedUnion('what', [
  z.strictObject({
    what: z.enum(['acknowledged', 'fixed', 'reopened', 'unmuted', 'unassigned', 'unlinked']),
  }),
  z.strictObject({ what: z.literal('assigned'), assignee: z.string().trim().min(1).max(100) }),
  z.strictObject({
    what: z.literal('muted'),
    days: z.coerce.number('must be a number of days').int('must be whole days').min(1).max(MAX_MUTED_DAYS),
    reason: z.string('is missing').trim().min(1, 'must say why, in a few words').max(MAX_REASON),
  }),
  z.strictObject({
    what: z.literal('linked'),
    ticket: z
      .string('is missing')
      .trim()
      .max(500)
      .refine(
        isWebAddress,
        'must be an address that begins with https:// or http://, without spaces and without a password',
      ),
  }),
]);
export type CauseChange = z.infer<typeof CauseChange>;

function isWebAddress(text: string): boolean {
  const url = /^https?:\/\/[^\s/]/i.test(text) && !/[\s\p{Cc}]/u.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === '' && url.password === '';
}

/**
 * The lists of causes: those that need action, those of one person, unassigned ones, failing default
 * branches, muted ones, and fixed ones.
 */
export const CauseList = z.enum(['open', 'mine', 'unassigned', 'red', 'muted', 'fixed']);
export type CauseList = z.infer<typeof CauseList>;

/** Returns true if the cause is muted at `now` (milliseconds since 1970). */
export function isMuted({ mutedUntil }: Pick<Cause, 'mutedUntil'>, now: number): boolean {
  return mutedUntil !== null && Date.parse(mutedUntil) > now;
}
