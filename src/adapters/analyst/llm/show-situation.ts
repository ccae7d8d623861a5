import type { Answer } from '../../../domain/analysis.ts';
import type { ToolOutcome } from '../../../domain/evidence.ts';
import type { Insight, Plan } from '../../../ports/analyst.ts';
import type { ToolDescription } from '../../../ports/toolbox.ts';
import { cutLine } from './cut-text.ts';

/** What was asked need only be recognised, so that it is not asked again. */
const MAX_ARGUMENT = 80;
const MAX_SUMMARY = 160;

/** Where the inquiry stands: category, round, gaps, what was asked. */
export function showSituation(insight: Insight, plan?: Plan): string {
  const { classification, round, gaps, outcomes, conclusions = [] } = insight;
  return [
    `category so far: ${classification.category} (${classification.kind}), probability ${classification.confidence.toFixed(2)}${classification.abstained ? ', a guess' : ''}`,
    `because: ${cutLine(classification.because)}`,
    `round: ${round}`,
    ...(plan === undefined ? [] : [`thought of this round: ${cutLine(plan.thought)}`]),
    ...(gaps.length === 0 ? [] : ['gaps for which the last answer was sent back:', ...gaps.map((gap) => `- ${cutLine(gap)}`)]),
    ...(conclusions.length === 0 ? [] : ['what investigators concluded:', ...conclusions.map((one) => `- ${cutLine(one)}`)]),
    outcomes.length === 0 ? 'asked so far: nothing' : 'asked so far:',
    ...outcomes.map(showOutcome),
  ].join('\n');
}

/** A tool as our own text: name, question, cost, arguments. */
export function showTool(tool: ToolDescription): string {
  return `- ${tool.name}: ${describeTool(tool)} Arguments: ${JSON.stringify(tool.parameters)}`;
}

/** What a tool answers and what it costs, for a model that chooses. */
export function describeTool(tool: ToolDescription): string {
  const traits = [tool.always ? 'always' : '', `cost ${tool.costClass}`].filter((trait) => trait !== '');
  return `${tool.question} (${traits.join(', ')})`;
}

/** An answer with its claims numbered C1, C2, … for verification. */
export function showAnswer(answer: Answer): string {
  const claims = answer.claims.flatMap((claim, index) => [
    `C${index + 1} (cites ${claim.evidence.join(', ') || 'nothing'}): ${claim.text}`,
    ...claim.quotes.map((quote) => `   quotes ${quote.source}:${quote.line}: ${quote.text}`),
  ]);
  return [
    `title: ${answer.title}`,
    `cause: ${answer.rootCause}`,
    `fix: ${answer.fixRecommendation}`,
    `its author's confidence: ${answer.confidence.toFixed(2)}`,
    claims.length === 0 ? 'claims: none' : 'claims:',
    ...claims,
  ].join('\n');
}

function showOutcome(outcome: ToolOutcome): string {
  const args = Object.entries(outcome.call.args).map(([name, value]) => `${name}=${shortened(JSON.stringify(value), MAX_ARGUMENT)}`);
  return `- ${outcome.call.tool}(${args.join(', ')}): ${outcome.status}, ${shortened(outcome.summary, MAX_SUMMARY)}`;
}

function shortened(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}
