import { failureCount } from '../../../publish/answer-facts.ts';
import { analysisAddress, buildAddress } from '../../addresses.ts';
import { type Html, html, joined, linkTarget, type Shown } from '../../html.ts';
import type { AnalysisFacts } from './analysis-facts.ts';
import { evidencePart } from './evidence.ts';
import { historyPart, similarPart, testRunsPart } from './past.ts';
import { suspectsPart } from './suspects.ts';
import { hypothesesPart, verdictBox } from './verdict.ts';

export interface PartsOptions {
  /** Why a person is asked. */
  readonly why?: readonly string[];
  /** What comes between the verdict and its evidence. */
  readonly between?: Shown;
}

/** Everything that is known of one analysis, below its title: the verdict, then its evidence beside what else is known. */
export function analysisParts(facts: AnalysisFacts, { why = [], between }: PartsOptions = {}): Html {
  return html`${verdictBox(facts, why)}${between}
<div class="columns"><div>${evidencePart(facts)}</div>
<div class="beside">${hypothesesPart(facts)}${suspectsPart(facts)}${similarPart(facts)}${testRunsPart(facts)}${historyPart(facts)}
<p><a class="button" data-action="search" href="${analysisAddress(facts.analysis.id)}/ask">Ask about this <kbd aria-hidden="true">/</kbd></a></p></div></div>`;
}

/** Where it happened, in one line: repository, build, pull request, commit, how many failures. */
export function placeLine({ analysis, build }: AnalysisFacts, more: readonly Shown[] = []): Html {
  const commit =
    build.commit === null ? null : html`<code>${build.commit.slice(0, 9)}</code>${build.author !== null && ` by ${build.author}`}`;
  const outside = linkTarget(build.url);
  const parts: Shown[] = [
    build.repository,
    html`<a data-action="open" href="${buildAddress(build.id)}">${build.pipeline} #${build.number}</a>${outside !== null && html` <a href="${outside}" rel="noreferrer">in its CI</a>`}`,
    build.pullRequest !== null && `PR ${build.pullRequest}`,
    build.branch,
    commit,
    `${failureCount(analysis)}, 1 cause`,
    ...more,
  ];
  return html`<p class="place">${joined(
    parts.filter((part) => part !== false && part !== null && part !== undefined),
    ' · ',
  )}</p>`;
}
