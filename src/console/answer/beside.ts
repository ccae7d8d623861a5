import { shortenCommit } from '../../domain/build.ts';
import type { FixAttempt } from '../../domain/experiment.ts';
import { estimateFlakeProbability } from '../../domain/flakiness.ts';
import { QUESTION_WORDS } from '../../domain/outcome.ts';
import { formatVersionChange, getChangesHeading } from '../../domain/version-changes.ts';
import { formatCount } from '../../lib/text.ts';
import { formatDollars, formatDuration } from '../../notifications/answer-view.ts';
import { describeEarlierFix, describeResolution } from '../../notifications/resolution-words.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import {
  buildAddress,
  formatAnalysisAddress,
  formatCauseAddress,
  formatLibraryAddress,
  runAddress,
} from '../addresses.ts';
import { formatPercent, runStrip } from '../charts/chart.ts';
import { formatDay, renderTime } from '../controls.ts';
import { type Html, html, type Shown } from '../html.ts';
import { testAddress } from '../insights/test-page.ts';
import { icon } from '../parts/icons.ts';
import { renderOwner } from '../parts/marks.ts';
import type { AnswerFacts } from './facts.ts';

/** Renders the context of an answer: a tried fix, versions, the history, the owner, how it was found. */
export function besideParts(facts: AnswerFacts, verdict: Shown): Html {
  const past = html`${renderHappened(facts)}${seenPart(facts)}${renderEarlierFixes(facts)}`;
  return html`${fixPart(facts)}${changesPart(facts)}${past}${ownerPart(facts)}${verdict}${foundPart(facts)}`;
}

/** Renders a section of the context column, with a link in its heading. */
export function besidePart(id: string, title: string, content: Shown, link: Shown = null): Html {
  return html`<section class="part" aria-labelledby="${id}"><h2
    id="${id}">${title} ${link}</h2>${content}</section>`;
}

function fixPart({ analysis }: AnswerFacts): Shown {
  const trial = analysis.experiment?.fixes;
  const fixed = trial?.attempts.find(({ verdict }) => verdict === 'fixed');
  if (trial === undefined) return null;
  const words =
    fixed === undefined
      ? html`<p>${trial.sentence}</p>`
      : html`<p><b class="is-green">${icon('check')} ${describeFix(fixed)}</b></p><p
        class="meta">${fixed.sentence}</p>
        ${fixed.diff !== null && html`<details><summary>The change</summary><pre tabindex="0">${fixed.diff}</pre></details>`}`;
  return besidePart('fix', 'Fix, tried', words);
}

/** Renders the versions that differ between the failed run and the last passed one. */
function changesPart({ analysis: { changes } }: AnswerFacts): Shown {
  if (changes === undefined) return null;
  const { since, isSameCommit } = changes;
  const rows = changes.changes.map(
    (change) =>
      html`<li>${icon(change.link === null ? 'dependency' : 'check')}${formatVersionChange(change)}</li>`,
  );
  const green =
    since === null
      ? 'the green build'
      : html`<a href="${buildAddress(since.buildId)}">build ${since.number}</a>`;
  const more = changes.more > 0 && html`<p class="meta">and ${formatNumber(changes.more)} more</p>`;
  return besidePart(
    'changed',
    getChangesHeading(changes),
    html`<ol class="story">${rows}</ol>${more}<p class="meta">since ${green}${
      isSameCommit && ', which passed on the same commit'
    }</p>`,
  );
}

function describeFix({ files }: FixAttempt): string {
  return files.length === 1 ? `A change to ${files[0]} works` : `A change to ${files.length} files works`;
}

/** Renders the later builds, and the grade that they give the answer. */
function renderHappened({ graded }: AnswerFacts): Shown {
  if (graded === null) return null;
  const { mend, grades } = graded;
  const rows = grades.map(
    ({ question, grade, because }) =>
      html`<li>${QUESTION_WORDS[question]}: <b class="${GRADE_LOOKS[grade]}">${grade}</b><p
        class="meta">${because}</p></li>`,
  );
  const link = html`<a href="${buildAddress(mend.green.id)}">The build that passed</a>`;
  return besidePart(
    'next',
    'What happened next',
    html`<p>${describeResolution(mend)}</p><ul class="story">${rows}</ul>`,
    link,
  );
}

const GRADE_LOOKS = { right: 'is-green', wrong: 'is-red', doubtful: 'meta' } as const;

/** Renders how similar failures were fixed before. No person has confirmed these fixes. */
function renderEarlierFixes({ earlierFixes }: AnswerFacts): Shown {
  const described = describeEarlierFix(earlierFixes);
  if (described === null) return null;
  const rows = earlierFixes.map(
    ({ analysisId, pipeline, number, at, commit, greenBuildId }) => html`<li>${icon('history')}<a
      href="${formatAnalysisAddress(analysisId)}">${pipeline} #${number}</a>,
      <a href="${buildAddress(greenBuildId)}">fixed</a>${
        commit !== null && html` by <code>${shortenCommit(commit)}</code>`
      }<p class="meta">${renderTime(at)}</p></li>`,
  );
  return besidePart(
    'fixed-before',
    'What fixed it before',
    html`<p>${described.text}</p><ol class="story">${rows}</ol>`,
  );
}

function seenPart(facts: AnswerFacts): Html {
  const { past, taught, analysis, flakiness } = facts;
  const all = html`<a href="${formatCauseAddress(analysis.fingerprint)}">All occurrences</a>`;
  const rows = [
    ...taught.map(
      ({ id, title, confirmedBy, confirmedAt, timesSeen }) => html`<li>${icon('check')}<a
        href="${formatLibraryAddress(id)}">${title}</a><p class="meta">confirmed by ${confirmedBy},
        ${formatDay(confirmedAt)}, seen ${formatCount(timesSeen, 'time')}</p></li>`,
    ),
    ...past.map(
      ({ failure, pipeline, number, branch, seenAt }) => html`<li>${icon('history')}<a
        href="${buildAddress(failure.buildId)}">${pipeline} #${number}</a>${branch !== null && ` on ${branch}`}<p
        class="meta">${renderTime(seenAt)}</p></li>`,
    ),
  ];
  const words =
    rows.length === 0 ? html`<p><b>Never in this repository.</b></p>` : html`<ol class="story">${rows}</ol>`;
  return besidePart('seen', 'Seen before?', html`${words}${flakiness !== null && testRuns(flakiness)}`, all);
}

/** Renders the newest runs of the first failing test, oldest first. */
function testRuns(test: NonNullable<AnswerFacts['flakiness']>): Html {
  const chance = estimateFlakeProbability(test);
  return html`<p><a href="${testAddress(test)}">This test</a>, last ${test.recent.length} runs:</p>
    <p>${runStrip(test.name, test.recent)}</p>
    <p class="meta">Failed ${test.failed} of ${test.runs} runs${
      test.flakes > 0 && `, ${test.flakes} of them as a flake`
    }${
      chance !== null &&
      `; on an unchanged rerun, it passes with a probability of about ${formatPercent(chance)}`
    }.</p>`;
}

function ownerPart({ analysis }: AnswerFacts): Shown {
  const { owner } = analysis;
  if (owner === undefined) return null;
  const source =
    owner.by === 'codeowners' ? `from ${owner.at ?? 'CODEOWNERS'}` : `last changed ${owner.path}`;
  return besidePart(
    'own',
    'Owner',
    html`${owner.names.map((name) => html`<p>${renderOwner(name)}</p>`)}<p class="meta">${source}</p>`,
  );
}

/** Summarizes how the answer was found. The steps have their own page. */
function foundPart({ analysis, build }: AnswerFacts): Html {
  const { usage, milliseconds, createdAt, reduction, id } = analysis;
  const cost = usage.modelCalls === 0 ? 'no model used' : formatDollars(usage.costUsd);
  const tools =
    usage.toolCalls > 0 && html`<li>${icon('search')}Asked ${formatCount(usage.toolCalls, 'tool')}</li>`;
  return besidePart(
    'how',
    'How it was found',
    html`<ol class="story"><li>${icon('file')}Read ${formatCount(reduction.logLines, 'line')}, kept
      ${formatNumber(reduction.keptLines)}</li>${tools}<li>${icon('clock')}Received
      ${renderTime(build.receivedAt)}, answered ${renderTime(createdAt)}</li></ol>
      <p class="meta"><a href="${runAddress(id)}">All steps</a>,
      ${formatDuration(milliseconds)}, ${cost}</p>`,
  );
}
