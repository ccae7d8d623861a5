import type { Statement, Understanding } from '../domain/conversation.ts';
import type { Evidence, ToolOutcome } from '../domain/evidence.ts';
import { takeFirstOfEach } from '../lib/collections.ts';
import type { Converse, Inquiry, Judgment } from '../ports/analyst.ts';
import { chooseLookups } from './choose-lookups.ts';
import { describeLine, quoteText } from './describe-line.ts';
import { cite, type Draft, record } from './drafts.ts';
import {
  findForms,
  findSides,
  QUESTION_FORMS,
  type QuestionForm,
  understandQuestion,
} from './question-forms.ts';

type Judge = <Value>(signal: AbortSignal, decide: () => Value) => Promise<Judgment<Value>>;

/** The words before the title of a tool's finding. */
const LEADS: Readonly<Record<string, string>> = {
  search_knowledge: 'The knowledge base has: ',
  read_failure_history: 'Earlier: ',
  find_similar_failures: 'Earlier: ',
  search_error_library: 'Earlier: ',
  diff_with_green: 'New since green: ',
  changed_since_green: 'Changed: ',
  read_commit_history: 'Changed: ',
};
const MAX_FINDINGS = 5;
const MAX_STEPS = 8;
const MAX_COMMITS = 3;

/**
 * Answers follow-up questions without a model, with the facts on the answer's page and the results of the
 * tools of a question's form. If it knows none of the words, lists what it can answer.
 */
export function createRulesConverse(judge: Judge): Converse {
  return {
    understand: ({ question }, signal) => judge(signal, () => understandQuestion(question)),
    chooseTools: (input, signal) => judge(signal, () => chooseLookups(input)),
    reply: (input, signal) =>
      judge(signal, () => {
        const statements = layOut(composeReply(input), input.understanding);
        for (const { lead, text } of statements) input.onText({ text: lead + text });
        return statements;
      }),
  };
}

function composeReply(input: Inquiry & { readonly understanding: Understanding }): Draft[] {
  const { shape } = input.understanding;
  const answered =
    shape === 'journey' ? tellJourney(input) : shape === 'comparison' ? compare(input) : explain(input);
  return [...answered, ...describeFailedCalls(input.outcomes)];
}

/** Formats statements as a numbered or bulleted list. */
function layOut(drafts: readonly Draft[], { shape }: Understanding): Statement[] {
  return drafts.map((statement, index) => {
    const mark = shape === 'journey' ? `${index + 1}. ` : '- ';
    return { lead: index === 0 ? mark : `\n${mark}`, ...statement };
  });
}

function explain(input: Inquiry): Draft[] {
  const looked = selectFindings(input.found, ['grep_log', 'view_log']);
  const forms = findForms(input.question).filter(
    ({ tools }) => looked.length === 0 || !tools.includes('log'),
  );
  const drafts = [
    ...looked.map((item) => describe(item, input)),
    ...forms.flatMap((form) => answer(form, input)),
  ];
  const unique = takeFirstOfEach(drafts, ({ text }) => text);
  if (unique.length > 0 || input.outcomes.some(isWorthSaying)) return unique;
  return [...listFacts(input, ['Cause', 'Claim', 'Hypothesis']), record(LIMITS)];
}

const LIMITS =
  `I can explain ${QUESTION_FORMS.map(({ about }) => about).join(', ')}, and how the failure happened. ` +
  'I cannot answer other questions, because no language model is configured.';

/** Answers one form: the facts of the page, then the findings of its tools. */
function answer({ facts, tools, otherwise }: QuestionForm, input: Inquiry): Draft[] {
  const found = selectFindings(input.evidence, tools).map((item) => describe(item, input));
  const drafts = [...listFacts(input, facts), ...found];
  // A failed call is explained separately.
  const isExplained = input.outcomes.some(
    ({ call, ...outcome }) => tools.includes(call.tool) && isWorthSaying(outcome),
  );
  return drafts.length > 0 || otherwise === '' || isExplained ? drafts : [record(otherwise)];
}

function listFacts({ topic }: Inquiry, names: readonly string[]): Draft[] {
  return names.flatMap((name) =>
    topic.facts
      .filter((fact) => fact.name === name)
      .map(({ text, evidence, quotes }) => cite(text, evidence, quotes)),
  );
}

/** Compares this build with the last passing one, this failure with earlier ones, or both. */
function compare(input: Inquiry): Draft[] {
  const { green, past } = findSides(input.question);
  const forms: QuestionForm[] = [];
  if (green.length > 0) forms.push({ ...FORM, facts: ['New'], tools: green, otherwise: NO_GREEN });
  if (past.length > 0) forms.push({ ...FORM, facts: ['Precedent'], tools: past, otherwise: NO_PAST });
  return forms.flatMap((form) => answer(form, input));
}

const FORM = { about: '', words: /$^/ };
const NO_GREEN = 'No green build of this pipeline with a log to compare is known.';
const NO_PAST = 'No similar earlier failure is known, so there is nothing to compare.';

/**
 * Describes the course of events: what preceded the build, its log from top to bottom, and the conclusion.
 */
function tellJourney(input: Inquiry): Draft[] {
  const { topic, evidence } = input;
  const commits = selectFindings(evidence, ['read_commit_history']).slice(0, MAX_COMMITS).reverse();
  const { title, claims } = topic.analysis.answer;
  return [
    ...selectFindings(evidence, ['count_consecutive_failures']).map((item) => describe(item, input)),
    ...commits.map((item) => cite(`Just before: ${formatTitle(item)}`, [item.id])),
    record(describeStart(input)),
    ...sortByLog(input).map((item) => describeLogLine(item, input)),
    cite(`Conclusion: ${title}.`, claims[0]?.evidence ?? []),
  ];
}

function describeStart({ topic: { build } }: Inquiry): string {
  const at = build.startedAt === null ? '' : ` at ${build.startedAt.slice(0, 16).replace('T', ' ')} UTC`;
  const on = build.branch === null ? '' : ` on ${build.branch}`;
  const commit = build.commit === null ? '' : `, commit ${build.commit.slice(0, 10)}`;
  const name = build.pipeline === 'terminal' ? 'The command' : `Build ${build.number} of ${build.pipeline}`;
  return `${name} ran${at}${on}${commit}.`;
}

/** Returns evidence from the build's own logs, sorted by log and line. Each line appears once. */
function sortByLog({ topic, evidence }: Inquiry): Evidence[] {
  const order = new Map(topic.subject.sources.map(({ name }, index) => [name, index]));
  const known = evidence.filter(
    (item) => item.lineStart !== undefined && (order.has(item.source) || item.tool === 'log'),
  );
  return takeFirstOfEach(known, ({ source, lineStart }) => `${source}:${lineStart}`)
    .sort(
      (left, right) =>
        (order.get(left.source) ?? 0) - (order.get(right.source) ?? 0) ||
        (left.lineStart ?? 0) - (right.lineStart ?? 0),
    )
    .slice(0, MAX_STEPS);
}

function selectFindings(evidence: readonly Evidence[], tools: readonly string[]): Evidence[] {
  return tools.flatMap((tool) => evidence.filter((item) => item.tool === tool).slice(0, MAX_FINDINGS));
}

/** Describes one finding: a line of a log, an earlier failure compared with this one, or its title. */
function describe(item: Evidence, input: Inquiry): Draft {
  const lead = LEADS[item.tool] ?? '';
  if (item.tool === 'count_consecutive_failures') return cite(item.text, [item.id]);
  if (item.lineStart !== undefined) {
    const sentence = describeLogLine(item, input);
    return { ...sentence, text: `${lead}${sentence.text}` };
  }
  return lead === LEADS.read_failure_history
    ? describeEarlier(item, input)
    : cite(`${lead}${formatTitle(item)}`, [item.id]);
}

/** States an earlier failure, with both messages if they differ. */
function describeEarlier(item: Evidence, { topic }: Inquiry): Draft {
  const now = topic.subject.failures[0]?.message.split('\n')[0]?.trim() ?? '';
  const then = item.text.split('\n')[0]?.trim() ?? '';
  const title = formatTitle(item);
  if (then === '' || now === '') return cite(`Earlier: ${title}`, [item.id]);
  if (squeeze(then) === squeeze(now)) return cite(`Earlier, with the same message: ${title}`, [item.id]);
  const quote = { source: item.source, line: item.lineStart ?? 1, text: then };
  const text = `Earlier: ${title}. The log said ${quoteText(then)} then and says ${quoteText(now)} now`;
  return cite(text, [item.id], [quote]);
}

function describeLogLine(item: Evidence, { topic }: Inquiry): Draft {
  const { text, quotes } = describeLine(item, topic.analysis.answer.claims, formatTitle(item));
  return cite(text, [item.id], quotes);
}

function formatTitle({ title }: Pick<Evidence, 'title'>): string {
  const line = squeeze(title).trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** Lists what tools could not answer, and why, because an answer without this information must say so. */
function describeFailedCalls(outcomes: readonly ToolOutcome[]): Draft[] {
  return outcomes
    .filter(isWorthSaying)
    .map(({ call, status, summary }) =>
      record(`${call.tool} had no answer (${status}): ${squeeze(summary).slice(0, 200)}`),
    );
}

/** Checks whether a failed call must be mentioned. An empty result is stated elsewhere. */
function isWorthSaying({ status, summary }: Pick<ToolOutcome, 'status' | 'summary'>): boolean {
  return status !== 'ok' && (status !== 'empty' || summary !== 'nothing found');
}
