import { z } from 'zod';
import { shortenCommit } from './build.ts';
import { Category } from './category.ts';

/** The owner of a file, and the source of that information. */
export const Owner = z.object({
  path: z.string(),
  /** The path as the log or the report wrote it. Absent if it is the same. */
  as: z.string().optional(),
  /**
   * The names: "@shop/payments" as CODEOWNERS writes it, or the name of an author. Never a whole e-mail
   * address.
   */
  names: z.array(z.string()).min(1),
  by: z.enum(['codeowners', 'last-change']),
  /** The line of CODEOWNERS (".github/CODEOWNERS:12"), or the commit; null if no commit is known. */
  at: z.string().nullable(),
});
export type Owner = z.infer<typeof Owner>;

/**
 * Describes an owner and the source: "@shop/payments (from .github/CODEOWNERS:12)", "Ada (last changed
 * src/cart/tax.ts in a41f9c2)".
 */
export function describeOwner({ names, by, at, path }: Owner): string {
  const why =
    by === 'codeowners'
      ? `from ${at}`
      : `last changed ${path}${at === null ? '' : ` in ${shortenCommit(at)}`}`;
  return `${names.join(', ')} (${why})`;
}

/** Returns the key by which an owner is searched: "@Shop/Payments" → "shop/payments". */
export function toOwnerKey(name: string): string {
  return name
    .trim()
    .replace(/^@{1,2}/, '')
    .toLowerCase();
}

/**
 * The state of a cause. Builds of the default branch also set `fixed`, when the cause is gone from it, and
 * `regressed`, when it is back.
 */
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
  /**
   * The time before which no notifications are sent. If it is null or in the past, the cause is not muted.
   */
  mutedUntil: z.iso.datetime().nullable(),
  /**
   * The number of further sightings for which no notifications are sent. Null if it is not muted by number.
   */
  mutedLeft: z.int().nullable(),
  /** The time from which on a build must begin to reopen a fixed cause. Null if any failed build does. */
  fixedFrom: z.iso.datetime().nullable(),
  /** The fingerprint of the cause in this repository into which it was merged. */
  mergedInto: z.string().nullable(),
  /** The URL of a ticket about it. */
  ticket: z.string().nullable(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  /** The pipelines whose default branch failed with it and has not passed since. */
  redPipelines: z.array(z.string()),
  version: z.int(),
});
export type Cause = z.infer<typeof Cause>;

/** An event in the history of a cause. */
export const CauseEvent = z.object({
  at: z.iso.datetime(),
  /** The person who caused the event. Null if builds did. */
  by: z.string().nullable(),
  what: z.string(),
  detail: z.string().nullable(),
  buildId: z.string().nullable(),
  /**
   * True if the person who caused the event can undo it, because nothing else has changed the cause since.
   */
  canUndo: z.boolean(),
});
export type CauseEvent = z.infer<typeof CauseEvent>;

const MAX_REASON = 500;

/**
 * The maximum duration of a mute, in days. A longer one is rejected, because it is unlikely to be intended.
 */
const MAX_MUTED_DAYS = 365;
const MAX_MUTED_TIMES = 10_000;

/** Creates the schema of a whole number. An empty field of a form counts as not given. */
const wholeNumber = (what: string, most: number) =>
  z.preprocess(
    (given) => (given === '' ? undefined : given),
    z.coerce.number(`must be a number of ${what}`).int(`must be whole ${what}`).min(1).max(most).optional(),
  );

/** The changes that a person can make to a cause. */
export const CauseChange = z.discriminatedUnion('what', [
  z.strictObject({
    what: z.enum([
      'acknowledged',
      'fixed',
      'fixed-in-next-build',
      'reopened',
      'unmuted',
      'unassigned',
      'unlinked',
      'unmerged',
    ]),
  }),
  z.strictObject({
    what: z.literal('merged'),
    into: z
      .string('is missing')
      .min(1)
      .max(300)
      .describe('The fingerprint of a cause in the same repository'),
  }),
  z.strictObject({ what: z.literal('assigned'), assignee: z.string().trim().min(1).max(100) }),
  z.strictObject({
    what: z.literal('muted'),
    days: wholeNumber('days', MAX_MUTED_DAYS).describe(
      'The number of days for which it is muted. 7 if `occurrences` is absent too',
    ),
    occurrences: wholeNumber('times', MAX_MUTED_TIMES).describe(
      'Muted until it has occurred this many more times',
    ),
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
export function isMuted(
  { mutedUntil, mutedLeft }: Pick<Cause, 'mutedUntil' | 'mutedLeft'>,
  now: number,
): boolean {
  return mutedLeft !== null || (mutedUntil !== null && Date.parse(mutedUntil) > now);
}

/** The maximum number of fixed causes that are counted. */
export const MAX_COUNTED_FIXED = 1_000;
