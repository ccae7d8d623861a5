import { z } from 'zod';
import type { CauseChange } from '../../domain/cause.ts';
import { formatCount } from '../../lib/text.ts';
import { actionButton, postForm } from '../controls.ts';
import { type Html, html } from '../html.ts';

/** The message for each kind of change. */
const DONE: Readonly<Record<CauseChange['what'] | 'undone', string>> = {
  acknowledged: 'Acknowledged.',
  assigned: 'Assigned.',
  unassigned: 'Unassigned.',
  fixed: 'Marked as fixed.',
  'fixed-in-next-build': 'Fixed from the next build on. Builds that run already do not bring it back.',
  reopened: 'Opened again.',
  muted: 'Muted.',
  unmuted: 'Unmuted.',
  linked: 'Ticket linked.',
  unlinked: 'Ticket unlinked.',
  merged: 'Merged. It counts as one cause from now on.',
  unmerged: 'A cause of its own again.',
  undone: 'Undone.',
};

/** The fields that report the last change to the next page. */
export const DoneFields = {
  done: z
    .string()
    .transform((what) => Object.keys(DONE).find((name) => name === what))
    .optional(),
  /** `n` is the number of causes that were changed, `left` of those that could not be. */
  n: z.coerce.number().int().min(0).max(1_000).optional().catch(undefined),
  left: z.coerce.number().int().min(0).max(1_000).optional().catch(undefined),
  /** The time of the change, which identifies it for undoing. */
  at: z.iso.datetime().optional().catch(undefined),
};

interface Done {
  readonly done?: string | undefined;
  readonly n?: number | undefined;
  readonly left?: number | undefined;
  readonly at?: string | undefined;
}

/** Describes the last change. Returns undefined if there is none. */
export function describeDone({ done, n = 1, left = 0 }: Done): string | undefined {
  if (done === undefined) return undefined;
  const words = DONE[done as keyof typeof DONE];
  const rest = left === 0 ? '' : ` ${formatCount(left, 'cause')} changed meanwhile and stayed as it was.`;
  if (n === 0) return `Nothing was changed.${rest}`;
  return n === 1
    ? `${words}${rest}`
    : `${n} causes: ${words.charAt(0).toLowerCase()}${words.slice(1)}${rest}`;
}

/** Renders the button that undoes the last change; `back` is the page to return to. */
export function undoForm({ done, at, n }: Done, back: string): Html | undefined {
  if (done === undefined || done === 'undone' || at === undefined || n === 0) return undefined;
  return html`${postForm('/causes/undo', { at, back }, actionButton('undo', 'Undo'))}`;
}
