import type { FastifyReply } from 'fastify';
import type { Review } from '../../domain/review.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import {
  BRANCH_ELSEWHERE,
  CATEGORY_FIELD,
  DAYS_FIELD,
  type FilterField,
  type Filtering,
  REPOSITORY_FIELD,
} from '../filters.ts';
import { type CsvColumns, readWhole, sendCsv, toCsvTable } from '../lists-as-csv.ts';
import { type QueueQuery, toReviewFilter } from './queue-query.ts';

const ORDERS = { risk: 'Highest risk first', age: 'Oldest first', confidence: 'Least sure first' };
const FIELDS: readonly FilterField[] = [
  REPOSITORY_FIELD,
  CATEGORY_FIELD,
  { name: 'why', label: 'Reason', offered: 'why', takes: /\S/ },
  {
    name: 'sort',
    label: 'Order',
    values: Object.keys(ORDERS),
    format: (value) => ORDERS[value as keyof typeof ORDERS] ?? value,
  },
  BRANCH_ELSEWHERE,
  { ...DAYS_FIELD, isElsewhere: true },
];

/** Reads the filters in use, and those that may be added. */
export async function readFiltering({ stores }: ConsoleDeps, query: QueueQuery): Promise<Filtering> {
  const { state, category, repo, branch, days, why, sort } = query;
  const labels = {
    state: state === 'all' ? undefined : state,
    category,
    repo,
    branch,
    days,
    why,
    sort: sort === 'risk' ? undefined : sort,
  };
  const offers = await stores.reviews.offers(toReviewFilter(query));
  return { path: '/review', query: labels, fields: FIELDS, offers };
}

const CSV_COLUMNS: CsvColumns<Review> = {
  title: (item) => item.title,
  repository: (item) => item.repository,
  pull_request: (item) => item.pullRequest,
  category: (item) => item.category,
  confidence: (item) => item.confidence,
  state: (item) => item.state,
  why: (item) => item.why.join('; '),
  opened_at: (item) => item.openedAt,
  id: (item) => item.id,
};

/** Sends the items of the queue as CSV. */
export async function sendQueue(
  reply: FastifyReply,
  { stores }: ConsoleDeps,
  query: QueueQuery,
): Promise<FastifyReply> {
  const decided = query.state === 'decided' && { decidedToday: true as const };
  const filter = { ...toReviewFilter(query), ...decided };
  const states = decided ? [undefined] : (['waiting', 'claimed'] as const);
  const found = await Promise.all(
    states.map((state) =>
      readWhole((page) => stores.reviews.list({ ...filter, ...(state && { state }) }, page, query.sort)),
    ),
  );
  return sendCsv(reply, 'review', toCsvTable(CSV_COLUMNS, found.flat()));
}
