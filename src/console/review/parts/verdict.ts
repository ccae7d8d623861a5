import { type Analysis, type Claim, isJudged } from '../../../domain/analysis.ts';
import { TOO_FEW, type TrackRecord } from '../../../ports/insights.ts';
import { confirmation, percent } from '../../../publish/answer-facts.ts';
import { type Html, html, joined, type Shown } from '../../html.ts';
import { evidenceChip, inlineProse, prose } from '../../prose.ts';
import type { AnalysisFacts } from './analysis-facts.ts';

/** Characters of several reasons that still read well as one sentence. */
const ONE_LINE = 160;

/** What it is, how sure and how often that was right, the cause with what it rests on, the fix, why a person, and what speaks against it. */
export function verdictBox(facts: AnalysisFacts, why: readonly string[] = []): Html {
  const { analysis } = facts;
  const ids = evidenceIds(analysis);
  const points = [
    point('Fix', inlineProse(analysis.answer.fixRecommendation, ids)),
    point('Needs review because', why.length > 0 && sentences(why, ids)),
    point('Conflicting evidence', againstIt(analysis, ids)),
    point('Unknown', analysis.verdict.gaps.length > 0 && sentences(analysis.verdict.gaps, ids)),
    point('Notes', analysis.notes.length > 0 && sentences(analysis.notes, ids)),
  ];
  return html`<section class="card verdict" aria-label="Verdict">
<p class="sure">${headline(facts)}</p>
${causeOf(analysis, ids)}
<dl class="points">${points}</dl></section>`;
}

function headline({ analysis, track }: AnalysisFacts): Html {
  const { category, kind, verdict } = analysis;
  if (!isJudged(analysis)) return html`<strong>Not analyzed</strong>: the analysis failed`;
  const known = confirmation(analysis);
  const sure =
    known === null
      ? html`<strong>${percent(verdict.confidence)} sure</strong> <span class="quiet">(${trackSentence(track)})</span>`
      : html`<strong>${known}</strong>`;
  return html`<span class="category">${category}</span> · ${kind.replaceAll('_', ' ')} · ${sure}`;
}

/** "answers at 70–80 % were right 31 of 42"; with too few decided, that. */
export function trackSentence(track: TrackRecord): string {
  if (track.of === 0) return 'too few decisions at this level to state accuracy';
  const level = `${Math.round(track.from * 100)}–${Math.round(track.to * 100)} %`;
  if (track.of < TOO_FEW) return `${track.of} decided at ${level}: too few to state accuracy`;
  return `answers at ${level} were right ${track.right} of ${track.of}`;
}

/** The cause with the chips of what it rests on; what else is claimed, each with its own. Lines of evidence lead back to `#claim-1`, … */
function causeOf({ answer }: Analysis, ids: ReadonlySet<string>): Html {
  const first = answer.claims.findIndex(({ text }) => text.trim() === answer.rootCause.trim());
  const cited = (claim: Claim | undefined) => joined((claim?.evidence ?? []).filter((id) => ids.has(id)).map(evidenceChip), ' ');
  const rest = answer.claims.flatMap((claim, at) =>
    at === first ? [] : [html`<li id="claim-${at + 1}">${inlineProse(claim.text, ids)} ${cited(claim)}</li>`],
  );
  return html`<div class="cause"${first >= 0 && html` id="claim-${first + 1}"`}>${prose(answer.rootCause, ids)} ${cited(answer.claims[first])}</div>
${rest.length > 0 && html`<ul class="claims">${rest}</ul>`}`;
}

/** What lowered the confidence, and what was said without proof. Never hidden. */
function againstIt({ verdict }: Analysis, ids: ReadonlySet<string>): Shown {
  const lowered = (verdict.factors ?? []).filter(({ value }) => value < 0).map(({ because }) => because);
  const dropped = verdict.unsupportedClaims.map((claim) => `No evidence for: ${claim}`);
  const all = [...lowered, ...dropped];
  return all.length > 0 && sentences(all, ids);
}

function sentences(texts: readonly string[], ids: ReadonlySet<string>): Html {
  const line = texts.map((text) => text.replace(/\.$/, '')).join('; ');
  if (line.length <= ONE_LINE) return inlineProse(`${line}.`, ids);
  return html`<ul>${texts.map((text) => html`<li>${inlineProse(text, ids)}</li>`)}</ul>`;
}

function point(name: string, words: Shown): Shown {
  return words !== false && html`<div><dt>${name}</dt><dd>${words}</dd></div>`;
}

/** The ids that chips may lead to. */
function evidenceIds({ evidence }: Analysis): ReadonlySet<string> {
  return new Set(evidence.map(({ id }) => id));
}

/** Other explanations that fit, and what would settle each; nothing where there are fewer than two. */
export function hypothesesPart({ analysis }: AnalysisFacts): Html {
  const { hypotheses } = analysis.answer;
  const ids = evidenceIds(analysis);
  return html`${
    hypotheses.length > 1 &&
    html`<section aria-labelledby="hypotheses"><h2 id="hypotheses">${hypotheses.length} explanations fit</h2>
<ol class="hypotheses">${hypotheses.map(({ text, category, settledBy }) => html`<li><span class="category">${category}</span> ${inlineProse(text, ids)}<br><span class="quiet">To confirm: ${inlineProse(settledBy, ids)}</span></li>`)}</ol></section>`
  }`;
}
