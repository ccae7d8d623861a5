import { z } from 'zod';
import { CauseChange } from '../../domain/cause.ts';
import { readInput, TriageError } from '../../domain/errors.ts';
import { omitUndefined } from '../../lib/collections.ts';
import { changeCause, changeCauses, MAX_CHANGED } from '../../service/causes.ts';
import { requireReviewer } from '../../service/review/queue.ts';
import { formatCauseAddress, search } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { type ConsoleApp, route } from '../page.ts';
import { Picks } from './bulk.ts';

const name = z.string().min(1).max(300);

/** The address of the page from which the person came. It must be an address of this console. */
const Back = z
  .string()
  .max(2_000)
  .regex(/^\/(?:$|\?|causes(?:$|[?/])|failures\/)/)
  .optional()
  .catch(undefined);

const Form = z.looseObject({
  repository: name,
  fingerprint: name,
  version: z.coerce.number().int().min(1).max(2_147_483_647),
  back: Back,
});

const several = z.union([z.string().transform((value) => [value]), z.array(z.string())]);
const BulkForm = z.object({
  pick: several
    .optional()
    .transform((picks) => picks ?? [])
    .pipe(z.array(Picks))
    .transform((picks) => picks.flat())
    .refine((picks) => picks.length <= MAX_CHANGED, `at most ${MAX_CHANGED} causes at once`),
  what: z.string().max(40),
  back: Back,
  assignee: z.string().optional(),
  days: z.string().optional(),
  occurrences: z.string().optional(),
  reason: z.string().optional(),
  into: z.string().optional(),
});
type BulkForm = z.infer<typeof BulkForm>;

const UndoForm = z.object({ at: z.iso.datetime(), back: Back });

/** Registers the forms that change one cause or several, and the one that undoes a change. */
export function registerCauseChanges(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post('/causes', route('review', { body: Form }), async (request, reply) => {
    const { repository, fingerprint, version, back, ...fields } = request.body;
    const change = readInput('This change', CauseChange, fields);
    const by = requireReviewer(request);
    const now = deps.clock.now();
    const clock = { now: () => now };
    await changeCause({ ...deps, clock }, { repository, fingerprint, version, change }, by);
    const at = new Date(now).toISOString();
    const into = change.what === 'merged' ? change.into : fingerprint;
    const address = back ?? `${formatCauseAddress(into)}#standing`;
    return reply.redirect(addFields(address, { done: change.what, at }), 303);
  });
  app.post('/causes/bulk', route('review', { body: BulkForm }), async (request, reply) => {
    const { pick, back = '/causes' } = request.body;
    const by = requireReviewer(request);
    if (pick.length === 0) throw new TriageError('invalid-input', 'Select at least one cause first.');
    const change = readInput('This change', CauseChange, await toChange(request.body, by, deps));
    const chosen = pick.filter(({ fingerprint }) => change.what !== 'merged' || fingerprint !== change.into);
    const requests = chosen.map((key) => ({ ...key, change }));
    const { changed, refused, at } = await changeCauses(deps, requests, by);
    if (changed.length === 0) throw new TriageError('conflict', refused.join(' '));
    const left = chosen.length - changed.length || undefined;
    return reply.redirect(addFields(back, { done: change.what, n: changed.length, left, at }), 303);
  });
  app.post('/causes/undo', route('review', { body: UndoForm }), async (request, reply) => {
    const { at, back = '/causes' } = request.body;
    const undone = await deps.stores.causes.undo({ by: requireReviewer(request), at });
    if (undone.length === 0)
      throw new TriageError('conflict', 'This cannot be undone any more: the cause has changed since.');
    return reply.redirect(addFields(back, { done: 'undone', n: undone.length }), 303);
  });
}

/** Converts the form to a change, with defaults for fields that the form leaves empty. */
async function toChange(
  form: BulkForm,
  by: string,
  { stores }: ConsoleDeps,
): Promise<Record<string, unknown>> {
  const { what, assignee, days, occurrences, reason, into, pick } = form;
  if (what === 'taken') return { what: 'assigned', assignee: by };
  if (what === 'assigned') return omitUndefined({ what, assignee });
  if (what === 'muted') return omitUndefined({ what, days, occurrences, reason });
  if (what !== 'merged') return { what };
  if (into !== undefined && into !== '') return { what, into };
  const known = await Promise.all(pick.map(({ fingerprint }) => stores.causes.ofFingerprint(fingerprint)));
  const repositories = new Set(pick.map(({ repository }) => repository));
  const [oldest] = known
    .flat()
    .filter(({ repository }) => repositories.has(repository))
    .toSorted((left, right) => left.firstAt.localeCompare(right.firstAt));
  return { what, into: oldest?.fingerprint };
}

/** Adds fields to a local address. They replace fields of the same name. */
function addFields(address: string, fields: Readonly<Record<string, string | number | undefined>>): string {
  const url = new URL(address, 'http://localhost');
  for (const name of ['done', 'n', 'left', 'at', ...Object.keys(fields)]) url.searchParams.delete(name);
  const kept = Object.fromEntries(url.searchParams);
  return `${url.pathname}${search({ ...kept, ...fields })}${url.hash}`;
}
