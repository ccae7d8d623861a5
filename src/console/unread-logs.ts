import { formatNumber } from '../notifications/visible-text.ts';
import { buildAddress } from './addresses.ts';
import { getCiName } from './ci-links.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { dataTable, type Html, html } from './html.ts';

/** The maximum number of repositories that are listed, those with the most such builds first. */
const MOST = 20;
const DAYS = 7;

/** Lists which logs could not be read in the past week, and why. Returns null if all were read. */
export async function unreadLogs(
  { stores, clock }: Pick<ConsoleDeps, 'stores' | 'clock'>,
  repository?: string,
): Promise<Html | null> {
  const period = {
    until: new Date(clock.now()).toISOString(),
    days: DAYS,
    ...(repository !== undefined && { repository }),
  };
  const unread = await stores.health.unreadLogs(period, MOST);
  if (unread.length === 0) return null;
  const rows = unread.map(
    (log) =>
      html`<tr><th scope="row">${log.repository}</th><td>${getCiName(log)}</td>
        <td class="number">${formatNumber(log.builds)}</td>
        <td><a href="${buildAddress(log.buildId)}">${log.why}</a></td></tr>`,
  );
  return html`<h2>Logs that could not be read</h2>
    <p>These builds failed in the past ${DAYS} days and have no answer, because their logs could not be read.
    They are not in the review queue: an administrator can check the connection under Settings, or upload the
    log.</p>
    ${dataTable(
      'Logs that could not be read',
      ['Repository', 'CI system', { number: 'Builds' }, 'The newest, and why'],
      rows,
    )}`;
}
