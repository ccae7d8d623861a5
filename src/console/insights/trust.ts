import { CATEGORIES } from '../../domain/category.ts';
import { nameCategory } from '../../domain/category-words.ts';
import { type DecidedCount, TOO_FEW } from '../../domain/insights.ts';
import type { CheckedAnswer, Tally, Trust, TrustChange, UnseenFigures } from '../../domain/trust.ts';
import { computeProportion } from '../../lib/statistics.ts';
import { formatConfidence, formatCount } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { readTrust, TRUST_DAYS, type TrustDeps, type TrustFacts } from '../../service/answers/trust.ts';
import { formatAnalysisAddress, search } from '../addresses.ts';
import { type Chart, figure, formatPercent } from '../charts/chart.ts';
import { type CoverageChart, createCalibrationChart, createThresholdChart } from '../charts/confidence.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { pager, renderTime } from '../controls.ts';
import { createNumberColumns, dataTable, type Html, html } from '../html.ts';
import { renderCategory } from '../parts/marks.ts';
import { filterForm, type InsightsQuery, type InsightsView, toPeriod } from './insights-frame.ts';
import { renderOutcomes } from './outcomes.ts';

const PATH = '/insights/trust';
const ANSWERS_PATH = `${PATH}/answers`;
const PAGE = 50;

export async function trustFacts({ repo }: InsightsQuery, deps: TrustDeps): Promise<TrustFacts> {
  return await readTrust(deps, repo === '' ? {} : { repository: repo });
}

/** Creates the coverage chart for the threshold to inspect. */
export function createCoverageChart(query: InsightsQuery, { trust, decided, answered }: TrustFacts): Chart {
  const kept: CoverageChart['kept'] = query.repo === '' ? {} : { repo: query.repo };
  const csv = `${PATH}${search({ repo: query.repo, t: query.t, wrong: query.wrong, csv: 'coverage' })}`;
  return createThresholdChart({
    judged: decided,
    answered,
    threshold: query.t ?? trust.threshold,
    wrong: query.wrong / 100,
    kept,
    csv,
  });
}

/**
 * Renders `/insights/trust`: the published share, its accuracy, the effect of the last changes, and the
 * measurements of the release.
 */
export async function trustView(query: InsightsQuery, deps: ConsoleDeps): Promise<InsightsView> {
  const [facts, outcomes] = await Promise.all([trustFacts(query, deps), renderOutcomes(query, deps)]);
  const { trust, decided } = facts;
  const chart = (id: string, name: string, judged: readonly DecidedCount[], small: boolean) =>
    createCalibrationChart({
      id,
      name,
      judged,
      small,
      csv: `${PATH}${search({ repo: query.repo, csv: id })}`,
    });
  const whole = chart(
    'calibration',
    'Calibration: stated confidence (horizontal) and accuracy (vertical)',
    decided,
    false,
  );
  const each = CATEGORIES.map((category) => {
    const ofCategory = decided.filter((outcome) => outcome.category === category);
    return {
      isEmpty: ofCategory.length === 0,
      chart: chart(`calibration-${category}`, nameCategory(category), ofCategory, true),
    };
  });
  const known = each.filter(({ isEmpty }) => !isEmpty);
  const coverage = createCoverageChart(query, facts);
  const main = html`<h1 tabindex="-1">${writeFinding(trust)}</h1>
    <p role="note">${lead(trust)}</p>${filterForm(PATH, query)}
    <h2 id="outcomes">Was it right?</h2>${outcomes.main}
    <h2 id="thresholds">What would be published</h2>${thresholdsTable(trust, query)}${
      trust.enough && figure(coverage)
    }${
      whole.drawing !== null &&
      html`<h2 id="calibration">How sure it said it was, and how often it was right</h2>${figure(whole)}<div
        class="charts-small">${known.map(({ chart }) => figure(chart, 'h3'))}</div>`
    }
    <h2 id="changes">What the latest changes did</h2>${changesPart(trust.changes)}
    <h2 id="release">This release on failures it had not seen</h2>${releasePart(trust)}
    <p class="quiet">Right means that the category was right. What people decided in the last
    ${TRUST_DAYS} days is counted, at most 5,000 answers; what would be published, over the latest 20,000.</p>`;
  const thresholds = {
    head: THRESHOLD_HEAD,
    rows: trust.thresholds.map((threshold) => Object.values(threshold)),
  };
  const charts = [whole, coverage, ...each.map(({ chart }) => chart)].map(
    ({ id, table }) => [id, table] as const,
  );
  return {
    title: 'Trust',
    main,
    tables: { thresholds, outcomes: outcomes.table, ...Object.fromEntries(charts) },
  };
}

const THRESHOLD_HEAD = ['threshold', 'published', 'share', 'decided', 'right', 'low', 'high'];

/** Finds the figures at the threshold in force. Returns null if there are no answers. */
function findInForce({ threshold, thresholds, decided, answered }: Trust) {
  const here = thresholds.find((other) => other.threshold === threshold);
  return here === undefined || answered + decided === 0 ? null : here;
}

/** Returns the most important fact in a sentence: how often answers that may be published are right. */
function writeFinding(trust: Trust): string {
  const here = findInForce(trust);
  if (here === null) return 'There are no answers yet';
  return here.decided < TOO_FEW
    ? `${here.decided} of ${formatCount(trust.decided, 'decided answer')} ` +
        `${here.decided === 1 ? 'was' : 'were'} sure enough to publish: ` +
        `${TOO_FEW} are needed to say how often they are right`
    : `${here.right} of ${here.decided} answers that were sure enough to publish are right`;
}

/** Describes the threshold in force, and where else to look while there is too little data. */
function lead(trust: Trust): Html {
  const { threshold, answered } = trust;
  const here = findInForce(trust);
  const measured = html`See <a href="#release">how this release was measured</a>.`;
  if (here === null) return measured;
  const published = html`Answers with a confidence of <strong>${threshold.toFixed(2)}</strong> or more are
    sure enough to be published without a person: ${formatPercent(here.coverage)} of
    ${formatCount(answered, 'answer')}.`;
  if (here.decided < TOO_FEW) return html`${published} ${measured}`;
  const { share, low, high } = computeProportion(here.right, here.decided);
  return html`${published} ${formatPercent(share)} of those that a person decided were right; with so many
    decisions, the true share lies between ${formatPercent(low)} and ${formatPercent(high)}.`;
}

/** Formats a share as in "58 of 62 (94 %; 84 % to 98 %)". */
function formatShare(hits: number, of: number): string {
  const { share, low, high } = computeProportion(hits, of);
  return of < TOO_FEW
    ? `${formatNumber(hits)} of ${formatNumber(of)}`
    : `${formatNumber(hits)} of ${formatNumber(of)} (${formatPercent(share)}; ${formatPercent(low)} ` +
        `to ${formatPercent(high)})`;
}

/** Renders the thresholds. How often each was right is shown if any has enough decisions. */
function thresholdsTable({ threshold, thresholds }: Trust, { repo }: InsightsQuery): Html {
  const isJudged = thresholds.some(({ decided }) => decided >= TOO_FEW);
  const link = (t: number, verdict: string, count: number, words: string) =>
    count === 0 ? words : html`<a href="${ANSWERS_PATH}${search({ repo, t, verdict })}">${words}</a>`;
  const rows = thresholds.map(({ threshold: at, published, coverage, decided, right }) => {
    const wrong = decided - right;
    return html`<tr><th scope="row">${at.toFixed(2)}${
      at === threshold && html` <strong>in force</strong>`
    }</th>
      <td class="number">${formatNumber(published)}
      <span class="quiet">(${formatPercent(coverage)})</span></td>
      ${
        isJudged &&
        html`<td class="number">${
          decided === 0
            ? html`<span class="quiet">none decided</span>`
            : link(at, 'right', right, formatShare(right, decided))
        }</td><td class="number">${link(at, 'wrong', wrong, formatNumber(wrong))}</td>`
      }</tr>`;
  });
  const numbers = isJudged
    ? createNumberColumns('Published', 'Right (95 % interval)', 'Wrong')
    : createNumberColumns('Published');
  const head = ['Threshold', ...numbers];
  return html`${dataTable('What would be published at each threshold', head, rows)}
    <p class="quiet">Publishing also needs <em>evidence</em>
    of the right kind: fewer answers are published than are sure enough.
    <a href="${PATH}${search({ repo, csv: 'thresholds' })}">Download CSV</a></p>`;
}

function changesPart(changes: readonly TrustChange[]): Html {
  if (changes.length === 0)
    return html`<p>Nothing has changed since this installation began to keep its changes: releases, analysts,
      thresholds, calibrations and rules.</p>`;
  const items = changes.map(
    (change) =>
      html`<li><p>${renderTime(change.at)}
        <strong>${changeWords(change)}</strong>${change.repository !== null && ` in ${change.repository}`} ·
        ${difference(change)}</p>
        <p class="quiet">Before: ${tallyWords(change.before)}.<br>After:
        ${tallyWords(change.after)}.</p></li>`,
  );
  return html`<ol class="past">${items}</ol>
    <p class="quiet">At most 1,000 answers within 30 days on either side, up to the next change of the same
    kind. The failures differ too: a difference is a reason to look, not a proof.
    <a href="/insights/models">Compare two runs on the same failures</a>.</p>`;
}

const KINDS = {
  release: 'Release',
  analyst: 'Analyst',
  threshold: 'Threshold',
  calibration: 'Calibration',
  rule: 'Rule',
} as const;

function changeWords({ kind, from, to }: TrustChange): string {
  if (kind === 'rule')
    return `Rule ${from === null ? 'added' : to === null ? 'withdrawn' : 'changed'}: ${to ?? from}`;
  return `${KINDS[kind]}: ${from ?? 'none'} → ${to ?? 'none'}`;
}

function tallyWords({ answers, published, decided, right }: Tally): string {
  if (answers === 0) return 'no answers';
  const of = decided === 0 ? 'none decided' : `${formatShare(right, decided)} right`;
  return `${formatCount(answers, 'answer')}, ${formatPercent(published / answers)} published, ${of}`;
}

/** Renders a difference only if both sides are large enough and their intervals do not overlap. */
function difference({ before, after }: TrustChange): Html {
  if (before.decided < TOO_FEW || after.decided < TOO_FEW)
    return html`<span class="quiet">too few decisions to compare</span>`;
  const [was, is] = [
    computeProportion(before.right, before.decided),
    computeProportion(after.right, after.decided),
  ];
  if (is.low > was.high) return html`<strong class="is-green">right more often</strong>`;
  return is.high < was.low
    ? html`<strong class="is-red">right less often</strong>`
    : html`no clear difference`;
}

function releasePart({ release: { version, unseen }, threshold }: Trust): Html {
  if (unseen.length === 0) return html`<p>Nothing was measured of version ${version}.</p>`;
  const rows = unseen.map((set) => unseenRow(set, threshold));
  const head = [
    'Failures',
    'Category right',
    'Macro-F1',
    'Published',
    'Wrong of these',
    'Calibration error',
  ].map((number, at) => (at === 0 ? number : { number }));
  return html`${dataTable('Measured figures of this release', head, rows)}
    <p class="quiet">Version ${version}, rules without a model. No case of these sets was learned from for its
    own answer. Your failures may be easier or harder.</p>`;
}

function unseenRow(
  { name, cases, accuracy, macroF1, calibrationError, thresholds }: UnseenFigures,
  threshold: number,
): Html {
  // The figures of the next lower measured threshold are a safe estimate for a threshold that was not
  // measured.
  const at = thresholds.findLast((other) => other.threshold <= threshold + 1e-9) ?? thresholds[0];
  return html`<tr><th scope="row">${name}<br><span class="quiet">${formatCount(cases, 'case')}</span></th>
    <td class="number">${formatPercent(accuracy)}</td><td class="number">${macroF1.toFixed(3)}</td>
    <td class="number">${
      at !== undefined &&
      html`${formatPercent(at.coverage)} <span class="quiet">from ${at.threshold.toFixed(2)}</span>`
    }</td><td class="number">${at !== undefined && formatShare(at.wrong, at.published)}</td>
    <td class="number">${calibrationError.toFixed(3)}</td></tr>`;
}

/** Renders `/insights/trust/answers`: the decided answers that a count includes. */
export async function renderCheckedView(
  query: InsightsQuery,
  { stores, clock }: ConsoleDeps,
): Promise<InsightsView> {
  const { repo, t = 0, verdict, offset } = query;
  const right = verdict === 'all' ? null : verdict === 'right';
  const period = toPeriod({ ...query, day: undefined }, TRUST_DAYS, clock.now());
  const found = await stores.trust.answers(period, { from: t, right }, { limit: PAGE + 1, offset });
  const listed = found.slice(0, PAGE);
  const title = `${{ all: 'Decided', right: 'Right', wrong: 'Wrong' }[verdict]} answers from ${t.toFixed(2)}`;
  const kept = (changes: object) => `${ANSWERS_PATH}${search({ repo, t, verdict, ...changes })}`;
  const main = html`<h1 tabindex="-1">${title}</h1>
    <p>Answers that stated ${t.toFixed(2)} or more and that a person decided, newest first.
    <a href="${PATH}${search({ repo })}#thresholds">Back to Trust</a></p>
    ${
      listed.length === 0
        ? html`<p>${offset > 0 ? 'No more answers.' : 'There are none.'}</p>`
        : dataTable(
            title,
            ['Decided', 'Failure', 'Faultline said', 'A person said'],
            listed.map(checkedRow),
            {
              className: 'wide',
            },
          )
    }
    ${pager({ offset, size: PAGE, more: found.length > PAGE }, (at) => kept({ offset: at || undefined }))}`;
  const rows = listed.map((answer) => [
    answer.decidedAt,
    answer.title,
    answer.repository,
    answer.category,
    answer.decidedCategory,
    answer.confidence,
    String(answer.right),
    answer.analysisId,
  ]);
  return {
    title,
    main,
    tables: {
      answers: {
        head: [
          'decided',
          'title',
          'repository',
          'category',
          'decided_category',
          'confidence',
          'right',
          'analysis',
        ],
        rows,
      },
    },
  };
}

function checkedRow({
  analysisId,
  repository,
  title,
  category,
  confidence,
  right,
  decidedCategory,
  decidedAt,
}: CheckedAnswer): Html {
  const decisionText = decidedCategory === null ? 'rejected' : renderCategory(decidedCategory);
  return html`<tr><td>${renderTime(decidedAt)}</td>
    <td><a href="${formatAnalysisAddress(analysisId)}">${title}</a><br><span
      class="quiet">${repository}</span></td>
    <td>${renderCategory(category)}
    <span class="quiet">${formatConfidence(confidence)}</span></td>
    <td>${decisionText}
      <span class="${right ? 'is-green' : 'is-red'}">${right ? '✓ right' : '✗ wrong'}</span></td></tr>`;
}
