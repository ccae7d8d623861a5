import type { Cause } from '../../domain/cause.ts';
import type { TestFlakiness } from '../../domain/flakiness.ts';
import { formatCount } from '../../lib/text.ts';
import { search } from '../addresses.ts';
import { runStrip } from '../charts/chart.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { renderTime } from '../controls.ts';
import { dataTable, type Html, html } from '../html.ts';
import { type InsightsQuery, TESTS_PATH } from './insights-frame.ts';
import { causeLink, type List, ownerCell, PAGE, testCell } from './test-lists.ts';

/** The number of failing tests that the first page of flaky ones lists. */
export const FIRST_FAILING = 8;
const HEAD = ['test', 'suite', 'repository', 'failing_since', 'last_failed_at', 'cause'];

/** Lists the tests whose newest run failed, newest first. */
export async function listFailing(query: InsightsQuery, { stores }: ConsoleDeps): Promise<List> {
  const { repo, offset } = query;
  const found = await stores.flakiness.listFailing(repo === '' ? {} : { repository: repo }, {
    limit: PAGE + 1,
    offset,
  });
  const tests = found.slice(0, PAGE);
  const causes = await stores.causes.ofTests({ tests });
  const isAll = offset === 0 && found.length <= PAGE;
  const verb = tests.length === 1 ? 'fails' : 'fail';
  return {
    title: isAll && tests.length > 0 ? `${formatCount(tests.length, 'test')} ${verb} now` : 'Failing tests',
    introduction:
      'Tests whose newest run failed, by the test reports of the last 14 days, the newest failure first.',
    found: found.length,
    table: renderTable(tests, causes),
    none: `No test${repo === '' ? '' : ` of ${repo}`} fails now, as far as test reports tell.`,
    cells: {
      head: HEAD,
      rows: tests.map((test, at) => [
        test.name,
        test.suite,
        test.repository,
        findFailingSince(test),
        test.lastFailedAt,
        causes[at]?.title ?? null,
      ]),
    },
  };
}

/** Renders the newest failing tests above the flaky ones. */
export function renderFailing(
  failing: readonly TestFlakiness[],
  causes: readonly (Cause | null)[],
  repo: string,
): Html {
  const more = failing.length > FIRST_FAILING;
  const all = `${TESTS_PATH}${search({ repo, list: 'failing' })}`;
  return html`<h2>Failing now${more && html` <a href="${all}">All of them</a>`}</h2>${renderTable(
    failing.slice(0, FIRST_FAILING),
    causes,
  )}<h2>Flaky</h2>`;
}

function renderTable(tests: readonly TestFlakiness[], causes: readonly (Cause | null)[]): Html {
  const rows = tests.map((test, at) => {
    const cause = causes[at] ?? null;
    return html`<tr>${testCell(test)}<td>${runStrip(test.name, test.recent)}</td><td class="num"><b
      class="is-red">since ${renderTime(findFailingSince(test))}</b></td><td>${causeLink(cause)}</td>
      <td>${ownerCell(cause)}</td></tr>`;
  });
  return dataTable(
    'Tests whose newest run failed',
    ['Test', 'Last 30 runs', 'Failing', 'What is known', 'Owner'],
    rows,
    { className: 'fold' },
  );
}
/** Returns when the newest failed runs of a test began, without one that passed among them. */
function findFailingSince({ recent, lastFailedAt }: TestFlakiness): string {
  const passed = recent.findLastIndex(({ mark }) => mark !== 'failed');
  return recent[passed + 1]?.at ?? lastFailedAt ?? '';
}
