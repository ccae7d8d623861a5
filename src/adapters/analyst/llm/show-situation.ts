import type { Answer, Quote } from '../../../domain/analysis.ts';
import type { Category } from '../../../domain/category.ts';
import { type Evidence, holdsQuote, type ToolOutcome } from '../../../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import type { Insight, Plan, PlanGap } from '../../../ports/analyst.ts';
import type { ToolDescription } from '../../../ports/toolbox.ts';
import { cutLine } from './cut-text.ts';

/** Arguments and summaries longer than this are no longer questions. */
const MAX_ARGUMENT = 240;
const MAX_SUMMARY = 300;

/** Where the inquiry stands: category, round, what is open, and everything that was asked with the evidence that it brought. */
export function showSituation(insight: Insight, plan?: Plan): string {
  const { classification, round, gaps, outcomes, conclusions = [] } = insight;
  return [
    `category so far: ${classification.category} (${classification.kind}), probability ${classification.confidence.toFixed(2)}${classification.abstained ? ', a guess' : ''}`,
    `because: ${classification.because}`,
    `round: ${round}`,
    ...(plan === undefined || plan.thought === '' ? [] : [`thought of this round: ${plan.thought}`]),
    ...listed('open questions', (plan?.gaps ?? []).map(showGap)),
    ...listed('the last answer was sent back because of', gaps),
    ...listed('what investigators concluded', conclusions),
    ...(outcomes.length === 0 ? ['asked so far: nothing'] : listed('asked so far', outcomes.map(showOutcome))),
  ].join('\n');
}

function listed(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)];
}

function showGap({ missing, tool, blocks }: PlanGap): string {
  return `${missing}${blocks ? ' (blocks the answer)' : ''}${tool === null ? '' : `: ${tool}`}`;
}

/** A tool as our own text: name, question, arguments. */
export function showTool(tool: ToolDescription): string {
  return `- ${tool.name}: ${tool.question} Arguments: ${JSON.stringify(tool.parameters)}`;
}

/** What a tool answers and what it costs, for a model that chooses; says where it is of little use for failures of the category. */
export function describeTool(tool: ToolDescription, category: Category): string {
  const unusual = tool.categories.includes(category) ? '' : `, seldom of use for ${category}: say why`;
  return `${tool.question} (cost ${tool.costClass}${unusual})`;
}

/** The tools that may be asked, a line each. */
export function listTools(offered: readonly ToolDescription[], category: Category): string {
  return offered.map((tool) => `- ${tool.name}: ${describeTool(tool, category)}`).join('\n') || '- none';
}

/** An answer with its claims numbered C1, C2, … for verification; says which quotations code has found in their place. */
export function showAnswer(answer: Answer, evidence: readonly Evidence[]): string {
  const claims = answer.claims.flatMap((claim, index) => [
    `C${index + 1} (cites ${claim.evidence.join(', ') || 'nothing'}): ${claim.text}`,
    ...claim.quotes.map((quote) => `   quotes ${quote.source}:${quote.line}: ${showQuote(quote, evidence)}`),
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

/** The quoted line as a person saw it, where it holds the quotation. */
function showQuote(quote: Quote, evidence: readonly Evidence[]): string {
  const item = evidence.find((one) => holdsQuote(one, quote));
  if (item === undefined) return `${quote.text} [does NOT stand there]`;
  const line = item.lineStart === undefined ? quote.text : (item.text.split('\n')[quote.line - item.lineStart] ?? quote.text);
  return `${cutLine(cleanLine(stripEscapes(line)), 300)} [stands there]`;
}

function showOutcome({ call, status, summary, evidence = [] }: ToolOutcome): string {
  const args = Object.entries(call.args).map(([name, value]) => `${name}=${shortened(JSON.stringify(value), MAX_ARGUMENT)}`);
  const brought = evidence.length === 0 ? '' : ` (${evidence.join(', ')})`;
  return `${call.tool}(${args.join(', ')}): ${status}, ${shortened(summary, MAX_SUMMARY)}${brought}`;
}

function shortened(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}…`;
}
