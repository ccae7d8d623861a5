import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Review } from '../../domain/review.ts';
import { isAdmin, reviewerOf, unknownReview } from '../../review/conflicts.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { itemBar } from './item-bar.ts';
import { itemMain, itemTitle } from './item-page.ts';
import { holdOf, type Looking, readItem } from './item-view.ts';
import { sendQuestion } from './question-page.ts';
import { QueueQuery } from './queue-query.ts';
import { Said, sentenceOf } from './said.ts';
import { unknownItemMain } from './unknown-item.ts';

const access = { role: 'review' } as const;

export const ItemParams = z.object({ id: z.string().min(1).max(100) });
const flag = z.literal('1').optional().catch(undefined);
const ItemQuery = z.object({
  ...QueueQuery.shape,
  ...Said.shape,
  edit: flag,
  reject: flag,
  armed: flag,
  peek: flag,
  blank: flag,
  ts: z.enum(['0', '1']).optional().catch(undefined),
});

/** `/review/:id`: one item. Opening it holds it for the reviewer, unless it is only looked at ahead (`peek`). */
export function registerItem(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/review/:id', { config: { access }, schema: { params: ItemParams, querystring: ItemQuery } }, async (request, reply) => {
    const { id } = request.params;
    const { edit, reject, armed, peek, blank, ts, ...query } = request.query;
    const review = await deps.stores.reviews.find(id);
    if (review === null) return await sendQuestion(request, reply, deps, id, { queue: QueueQuery.parse(query), blank: blank === '1' });
    const held = peek === '1' ? review : await hold(deps, review, reviewerOf(request));
    const mode = edit === '1' ? 'correct' : reject === '1' ? 'reject' : 'read';
    const said = armed === '1' ? 'Press a again to accept it anyway, or Esc to cancel.' : await sentenceOf(query, deps.stores, query.n);
    const stamps = ts === undefined ? {} : { stamps: ts === '1' };
    return await sendItem(request, reply, deps, held, { queue: QueueQuery.parse(query), mode, armed: armed === '1', ...stamps }, { said });
  });
}

/** Holds a free item, or one that this reviewer does not hold for much longer. What is held well enough keeps its version. */
async function hold({ stores, config, clock }: ConsoleDeps, review: Review, reviewer: string): Promise<Review> {
  const now = holdOf(review, reviewer);
  const leftMs = review.claimExpiresAt === null ? 0 : Date.parse(review.claimExpiresAt) - clock.now();
  if (now === 'others' || now === 'decided' || (now === 'mine' && leftMs > config.review.claimMs / 2)) return review;
  const claimed = await stores.reviews.claim(review.id, reviewer, config.review.claimMs);
  return claimed ?? (await stores.reviews.find(review.id)) ?? review;
}

/** Sends the item's page as it stands now. */
export async function sendItem(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  review: Review,
  looking: Omit<Looking, 'reviewer' | 'isAdmin'>,
  { said = null, status = 200 }: { readonly said?: string | null; readonly status?: number } = {},
): Promise<FastifyReply> {
  const reader = await readerOf(request, deps);
  const page = { place: 'item' as const, part: 'review' as const, ...(said !== null && { said }) };
  if ((await deps.stores.analyses.find(review.analysisId)) === null) {
    const main = unknownItemMain('review without an analysis', review);
    return sendPage(request, reply, { ...page, title: review.title, main }, reader, status);
  }
  const view = await readItem(deps, review, {
    stamps: reader.preferences.timestamps,
    ...looking,
    reviewer: reviewerOf(request),
    isAdmin: isAdmin(request),
  });
  return sendPage(request, reply, { ...page, title: itemTitle(view), main: itemMain(view), bar: itemBar(view) }, reader, status);
}

/** The item that a form is about. Throws `not-found`. */
export async function reviewOf({ stores }: Pick<ConsoleDeps, 'stores'>, id: string): Promise<Review> {
  const review = await stores.reviews.find(id);
  if (review === null) throw unknownReview(id);
  return review;
}
