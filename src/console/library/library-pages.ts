import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { TriageError } from '../../domain/errors.ts';
import { reviewerOf } from '../../review/conflicts.ts';
import { confirmStays, withdrawEntry } from '../../review/undo.ts';
import { libraryAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { entryMain } from './entry-page.ts';
import { LibraryQuery, libraryMain, PAGE_ENTRIES } from './library-list.ts';
import { registerRulePages } from './rule-pages.ts';

const access = { role: 'review' } as const;
const Params = z.object({ id: z.string().min(1).max(100) });
const SAID = { withdrawn: 'Withdrawn. It is no longer used.', stays: 'Confirmed. It is used again.' } as const;
const EntryQuery = z.object({ done: z.enum(['withdrawn', 'stays']).optional().catch(undefined) });

/** `/library`: what people taught, and what can be done about it; `/library/rules`: what they wrote down as rules. */
export function registerLibraryPages(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const { library } = deps.stores;
  typed.get('/library', { config: { access }, schema: { querystring: LibraryQuery } }, async (request, reply) => {
    const { query } = request;
    const filter = {
      ...(query.repo !== undefined && { repository: query.repo }),
      ...(query.show === 'withdrawn' && { withdrawn: true }),
      ...(query.show === 'flagged' && { flagged: true }),
    };
    const entries = await library.list({ limit: PAGE_ENTRIES + 1, offset: query.offset }, filter);
    const main = libraryMain({ query, entries: entries.slice(0, PAGE_ENTRIES), more: entries.length > PAGE_ENTRIES });
    return sendPage(request, reply, { title: 'Library', place: 'page', part: 'library', main }, await readerOf(request, deps));
  });
  typed.get('/library/:id', { config: { access }, schema: { params: Params, querystring: EntryQuery } }, async (request, reply) => {
    const entry = await library.find(request.params.id);
    if (entry === null) throw new TriageError('not-found', `There is no library entry ${request.params.id}.`);
    const { done } = request.query;
    const page = { title: entry.title, place: 'page' as const, part: 'library' as const, main: entryMain(entry) };
    return sendPage(request, reply, { ...page, ...(done && { said: SAID[done] }) }, await readerOf(request, deps));
  });
  const Reason = z.object({ reason: z.string().trim().min(1, 'Enter a reason for withdrawing it.').max(1000) });
  typed.post('/library/:id/withdraw', { config: { access }, schema: { params: Params, body: Reason } }, async (request, reply) => {
    const { id } = request.params;
    await withdrawEntry(deps, { id, by: reviewerOf(request), reason: request.body.reason });
    return reply.redirect(`${libraryAddress(id)}?done=withdrawn`, 303);
  });
  typed.post('/library/:id/stay', { config: { access }, schema: { params: Params } }, async (request, reply) => {
    const { id } = request.params;
    await confirmStays(deps, { id, by: reviewerOf(request) });
    return reply.redirect(`${libraryAddress(id)}?done=stays`, 303);
  });
  registerRulePages(app, deps);
}
