import { formatDollars, formatDuration } from '../../publish/answer-facts.ts';
import type { StepTrace, ToolTrace } from '../../publish/trace.ts';
import { formatNumber } from '../../publish/visible-text.ts';
import { type Html, html } from '../html.ts';
import { bar, type RunScale } from './step-bar.ts';

/** One finished step as a line that opens; steps in which something failed are open. `scale` is absent while the run goes on. */
export function stepLine(step: StepTrace, number: number, scale: RunScale | null): Html {
  const failed = step.tools.some(isFailure);
  const took = formatDuration(step.milliseconds);
  return html`<li><details${failed && html` open`}><summary>${scale !== null && bar(step, scale)}<span class="number">${number}</span> <strong>${step.node}</strong>${step.round > 0 && html` <span class="quiet">round ${step.round}</span>`}${step.investigator !== undefined && html` <span class="quiet">${step.investigator}</span>`} <span class="quiet">${took}</span> ${step.summary}</summary>
${step.judgements.map(
  (judgement) =>
    html`<p>${judgement.name} by ${judgement.by}${judgement.model !== null && ` (${judgement.model})`}: ${formatDuration(judgement.milliseconds)}${judgement.modelCalls > 0 && `, ${formatNumber(judgement.inputTokens)} → ${formatNumber(judgement.outputTokens)} tokens, ${formatDollars(judgement.costUsd)}`}${judgement.note !== null && html` <span class="quiet">${judgement.note}</span>`}</p>`,
)}
${step.tools.length > 0 && html`<ul class="plain">${step.tools.map(toolLine)}</ul>`}
${step.judgements.length === 0 && step.tools.length === 0 && html`<p class="quiet">No model or tool was called in this step.</p>`}</details></li>`;
}

function toolLine(tool: ToolTrace): Html {
  const sign = isFailure(tool)
    ? html`<span class="wrong"><span aria-hidden="true">✗</span> ${tool.status}</span>`
    : html`<span class="good"><span aria-hidden="true">✓</span> ${tool.status}</span>`;
  const args = Object.entries(tool.args).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return html`<li>${sign} <code>${tool.tool}</code> ${tool.summary} <span class="quiet">${formatDuration(tool.milliseconds)}${tool.attempts > 1 && `, ${tool.attempts} attempts`}${tool.cached && ', from cache'}${tool.answeredBy !== undefined && html`. Instead: <code>${tool.answeredBy}</code>`}</span>
${args.length > 0 && html`<br><span class="quiet mono">${args.join(' · ')}</span>`}<br><span class="quiet">${tool.why}</span></li>`;
}

/** Finding nothing is an answer. */
function isFailure({ status }: ToolTrace): boolean {
  return status !== 'ok' && status !== 'empty';
}
