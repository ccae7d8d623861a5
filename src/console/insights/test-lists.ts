import type { Cause } from '../../domain/cause.ts';
import type { TestFlakiness } from '../../domain/flakiness.ts';
import { formatCauseAddress } from '../addresses.ts';
import type { ChartTable } from '../charts/chart.ts';
import { formatDay } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { renderNoOwner, renderOwner } from '../parts/marks.ts';
import { testAddress } from './test-page.ts';

/** The number of tests on a page. */
export const PAGE = 50;

/** One of the lists of the page: its content and how it is presented. */
export interface List {
  readonly title: string;
  readonly introduction: string;
  /** A list that goes before this one. */
  readonly before?: Shown;
  readonly more?: Html;
  readonly found: number;
  readonly table: Html;
  readonly none: string;
  readonly cells: ChartTable;
}

/** Renders the cell that names a test, with a link to its page. */
export function testCell(
  test: Pick<TestFlakiness, 'name' | 'suite' | 'repository' | 'file' | 'quarantine'>,
): Html {
  const until: Shown =
    test.quarantine !== null &&
    html`<br><span class="status">in quarantine until ${formatDay(test.quarantine.until)}</span>`;
  return html`<th scope="row"><a class="whole" href="${testAddress(test)}">${test.name}</a><br><span
    class="meta">${test.suite !== null && test.suite !== test.name && `${test.suite} · `}${test.repository}${
      test.file !== null && html` · <code>${test.file}</code>`
    }</span>${until}</th>`;
}

/** Renders a link to what is known about a test. */
export function causeLink(cause: Cause | null): Shown {
  if (cause === null) return null;
  const { fingerprint, title } = cause;
  return html`<a class="above" href="${formatCauseAddress(fingerprint)}">${title}</a>`;
}

/** Renders the owner of a cause, or that there is none. */
export function ownerCell(cause: Cause | null): Html {
  const [owner] = cause?.owner?.names ?? [];
  return owner === undefined ? renderNoOwner('Nobody') : renderOwner(owner);
}
