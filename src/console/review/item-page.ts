import { reviewAddress } from '../addresses.ts';
import { ageOf, badge } from '../controls.ts';
import { type Html, html } from '../html.ts';
import { banners } from './banners.ts';
import { blindForm } from './blind-form.ts';
import { correctForm } from './correct-form.ts';
import type { ItemView } from './item-view.ts';
import { analysisParts, placeLine } from './parts/analysis-parts.ts';
import { evidencePart } from './parts/evidence.ts';
import { type QueueQuery, searchOf } from './queue-query.ts';
import { rejectForm } from './reject-form.ts';
import { sameList } from './same-list.ts';

/** The item: what it is, how sure, why a person, and everything to check it by. A blind one shows its evidence alone. */
export function itemMain(view: ItemView): Html {
  const { review, facts, hold, blind } = view;
  const title = itemTitle(view);
  const place = placeLine(facts, [hold !== 'decided' && `waiting ${ageOf(review.openedAt, facts.now)}`]);
  const head = html`${headline(title, view)}${place}${banners(view)}`;
  if (blind.blind) return html`<div class="item" data-review="${review.id}">${head}${blindForm(view)}${evidencePart(facts, 'logs')}</div>`;
  const decidable = hold === 'mine' || hold === 'free';
  const between = decidable && html`${correctForm(view)}${rejectForm(view)}${sameList(view)}`;
  return html`<div class="item" data-review="${review.id}"${hold === 'mine' && html` data-held-ms="${Date.parse(review.claimExpiresAt ?? '') - facts.now}"`}>${head}${analysisParts(facts, { why: review.why, between })}</div>`;
}

/** The machine's title gives its verdict away: a blind item is named by what failed. */
export function itemTitle({ review, facts, blind }: ItemView): string {
  if (!blind.blind) return review.title;
  const [first] = facts.failures;
  return first?.test?.name ?? first?.message ?? 'A failure';
}

function headline(title: string, { queue, review, waiting, hold, stamps }: ItemView): Html {
  const n = queue.n ?? 1;
  const of = Math.max(queue.of ?? waiting, n);
  return html`<div class="headline"><h1 tabindex="-1">${title}</h1>
<p class="position">${hold !== 'decided' && html`item ${n} of ${of}`} ${walkLinks(review.id, queue)} ${stampsLink(review.id, queue, stamps)}</p></div>`;
}

/** The same item, its log lines with or without their timestamps. */
function stampsLink(id: string, queue: QueueQuery, stamps: boolean): Html {
  const address = `${reviewAddress(id)}${searchOf(queue, { ts: stamps ? 0 : 1 })}`;
  return html`<a class="step" data-action="timestamps" href="${address}" data-swap>${stamps ? 'hide' : 'show'} timestamps${badge('timestamps')}</a>`;
}

/** To the neighbours in the queue, without deciding. */
function walkLinks(id: string, queue: QueueQuery): Html {
  const to = (direction: 'before' | 'after') => `/review/next${searchOf(queue, { [direction]: id })}`;
  return html`<a class="step" data-action="previous" href="${to('before')}" data-swap>previous <kbd aria-hidden="true">k</kbd></a> <a class="step" data-action="next" href="${to('after')}" data-swap>next <kbd aria-hidden="true">j</kbd></a>`;
}
