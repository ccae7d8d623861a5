import type { Quote } from '../domain/analysis.ts';
import type { Statement, Understanding } from '../domain/conversation.ts';
import type { Evidence, ToolOutcome } from '../domain/evidence.ts';
import { firstOfEach } from '../lib/collections.ts';
import { asSentence, formatConfidence } from '../lib/text.ts';
import type { Inquiry } from '../ports/analyst.ts';
import { quoteLine } from './wording.ts';

/** A statement before it is placed in the text. */
type Said = Omit<Statement, 'lead'>;

const INFORMATIVE =
  /\b(?:error|fail(?:ed|ure|s)?|exception|expected|cannot|not found|refused|denied|timed? ?out|killed|undefined|assert\w{0,10})\b/i;
const MAX_TITLE = 200;
const MAX_QUOTED = 200;

/** Creates a statement that is based on numbered evidence. */
function cited(text: string, evidence: readonly string[], quotes: readonly Quote[] = []): Said {
  const ids = [...new Set(evidence)];
  if (ids.length === 0) return record(text);
  return {
    text: `${text} ${ids.map((id) => `[${id}]`).join('')}`,
    evidence: ids,
    quotes: [...quotes],
    basis: 'evidence',
  };
}

/** Creates a statement that is based on the stored build or analysis itself. */
function record(text: string): Said {
  return { text, evidence: [], quotes: [], basis: 'record' };
}

/** Formats statements as a numbered or bulleted list. */
export function laidOut(statements: readonly Said[], shape: 'numbered' | 'list'): Statement[] {
  return statements.map((statement, index) => {
    const mark = shape === 'numbered' ? `${index + 1}. ` : '- ';
    return { lead: index === 0 ? mark : `\n${mark}`, ...statement };
  });
}

/**
 * Creates a statement from the most informative line of the evidence: `build.log:121 (failed test) says
 * “expected 10.20, got 10.21” [E1]`.
 */
function buildLineStatement(item: Evidence, { topic }: Pick<Inquiry, 'topic'>): Said {
  const quote = chooseQuote(
    item,
    topic.analysis.answer.claims.flatMap((claim) => claim.quotes),
  );
  if (quote === null) return cited(formatTitle(item), [item.id]);
  return cited(
    `${quote.source}:${quote.line} (${formatTitle(item)}) says ${quoted(quote.text)}`,
    [item.id],
    [quote],
  );
}

/** Formats a text of a log in quotation marks, shortened if it is long. */
function quoted(text: string): string {
  return `“${text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text}”`;
}

function formatTitle({ title }: Pick<Evidence, 'title'>): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line;
}

function foundBy(evidence: readonly Evidence[], ...tools: readonly string[]): Evidence[] {
  return evidence.filter((item) => tools.includes(item.tool));
}

/** Lists what tools could not answer, and why. An answer without this information must say so. */
function unanswered(outcomes: readonly ToolOutcome[]): Said[] {
  const failed = outcomes.filter((outcome) => outcome.status !== 'ok' && says(outcome));
  return failed.map(({ call, status, summary }) =>
    record(`${call.tool} had no answer (${status}): ${summary.replace(/\s+/g, ' ').slice(0, 200)}`),
  );
}

/**
 * Checks whether the comparison with the green build has already stated why it found nothing, so that no
 * other explanation is needed.
 */
function saysWhyNotGreen({ outcomes }: Pick<Inquiry, 'outcomes'>): boolean {
  return outcomes.some(
    (outcome) => outcome.call.tool === 'diff_with_green' && outcome.status !== 'ok' && says(outcome),
  );
}

/** Checks whether an outcome must be mentioned. That nothing was found is stated elsewhere. */
function says({ status, summary }: ToolOutcome): boolean {
  return status !== 'empty' || summary !== 'nothing found';
}

function chooseQuote(item: Evidence, claimed: readonly Quote[]): Quote | null {
  const { lineStart } = item;
  if (lineStart === undefined) return null;
  const lines = item.text.split('\n');
  const isIn = ({ source, line, text }: Quote) =>
    source === item.source && (lines[line - lineStart]?.includes(text) ?? false);
  const known = claimed.find(isIn);
  if (known !== undefined) return known;
  const informative = lines.findIndex((line) => INFORMATIVE.test(line.slice(0, 500)));
  const offset = informative >= 0 ? informative : lines.findIndex((line) => line.trim() !== '');
  const quotation = offset < 0 ? null : quoteLine(item.source, lineStart + offset, [item]);
  return quotation?.quote ?? null;
}

/** The aspects of an analysis that the rules can explain. */
export type Aspect =
  | 'cause'
  | 'fix'
  | 'suspects'
  | 'certainty'
  | 'history'
  | 'similar'
  | 'green'
  | 'lines'
  | 'tests'
  | 'category'
  | 'cost'
  | 'others';

/**
 * Words by which a question names an aspect; several may be named. In the order in which they are answered.
 */
const WORDS: readonly (readonly [Aspect, RegExp, string])[] = [
  [
    'cause',
    /\b(?:why|causes?|caused|reason|because|explain|went wrong|is wrong|what is this|mean|means)\b/i,
    'the cause',
  ],
  [
    'fix',
    /\b(?:fix|fixed|fixes|repair|solve|solution|mend|workaround|remedy|to do|(?:should|can) (?:i|we) do)\b/i,
    'the fix',
  ],
  [
    'suspects',
    /\b(?:who|whose|author|commits?|blame|suspects?|which (?:file|change)|introduced|pull request|broke it|my change|our change)\b/i,
    'who and which file',
  ],
  [
    'green',
    /\b(?:green|last (?:good|success|successful|pass|passed|passing)|passed|why now|changed|new since|diff)\b/i,
    'what is new since green',
  ],
  [
    'history',
    /\b(?:before|earlier|again|history|often|flaky|flakiness|first time|past|previous|previously|seen|how many times)\b/i,
    'earlier failures',
  ],
  [
    'similar',
    /\b(?:similar|same as|like this|other builds?|other repositor(?:y|ies)|elsewhere)\b/i,
    'similar failures',
  ],
  ['tests', /\b(?:tests?|specs?|assertions?|expected|expectation)\b/i, 'the tests'],
  [
    'lines',
    /\b(?:lines?|logs?|show|evidence|output|printed|where|proof|prove|proves)\b/i,
    'the lines that show it',
  ],
  [
    'certainty',
    /\b(?:sure|certain|confidence|confident|doubt|trust|reliable|right|wrong about|review|reviewer)\b/i,
    'how sure it is',
  ],
  [
    'category',
    /\b(?:category|classified|kind of|infra|infrastructure|environment|my fault|our fault|my code|our code)\b/i,
    'the category',
  ],
  ['cost', /\b(?:cost|costs|tokens?|dollars?|how long|took|which model)\b/i, 'what the analysis cost'],
  [
    'others',
    /\b(?:other (?:causes?|failures?)|else (?:failed|is wrong|broke)|anything else)\b/i,
    'the other causes',
  ],
];

const JOURNEY =
  /\b(?:how (?:did|does|come|was)|come to|came to|step by step|steps|timeline|sequence|journey|what happened|chain of|in what order|walk me|leads? to|led to|story)\b/i;
const COMPARISON =
  /\b(?:compare|compared|comparison|differ|differs|difference|differences|different|versus|vs|against|why now|same as|unlike|like (?:build|#)|since (?:the )?last|last green)\b/i;

/** Returns the aspects that a question names. Returns none if it names nothing that the rules know. */
export function findAspects(question: string): Aspect[] {
  return WORDS.filter(([, words]) => words.test(question)).map(([aspect]) => aspect);
}

/** Determines the shape and subject of an answer from the words of the question. */
export function understandQuestion(question: string): Understanding {
  const named = WORDS.filter(([, words]) => words.test(question)).map(([, , name]) => name);
  const shape = COMPARISON.test(question) ? 'comparison' : JOURNEY.test(question) ? 'journey' : 'explanation';
  return { shape, about: named.slice(0, 3).join(', ') || 'the failure' };
}

const MOST = 5;

/**
 * Compares this build with the last green one, and this failure with past ones: what is the same and what is
 * not.
 */
export function comparisonStatements(input: Inquiry): Said[] {
  const aspects = findAspects(input.question);
  const green = aspects.includes('green');
  const past = aspects.includes('history') || aspects.includes('similar');
  const parts = [...(green || !past ? withGreen(input) : []), ...(past || !green ? withPast(input) : [])];
  return [...parts, ...unanswered(input.outcomes)];
}

function withGreen(input: Inquiry): Said[] {
  const { topic, evidence } = input;
  const since = topic.analysis.green ?? topic.subject.green;
  const fresh = foundBy(evidence, 'diff_with_green').slice(0, MOST);
  const head =
    since === undefined ? [] : [record(`The analysis compared this build with green build ${since.number}.`)];
  const lines = fresh
    .map((item) => buildLineStatement(item, input))
    .map((statement) => ({ ...statement, text: `New since green: ${statement.text}` }));
  const commits = foundBy(evidence, 'changed_since_green', 'read_commit_history').slice(0, MOST);
  return [
    ...foundBy(evidence, 'count_consecutive_failures').map((item) => cited(item.text, [item.id])),
    ...head,
    ...lines,
    ...(fresh.length === 0 && since === undefined && !saysWhyNotGreen(input)
      ? [record('No green build of this pipeline with a log to compare is known.')]
      : []),
    ...commits.map((item) => cited(`Changed: ${formatTitle(item)}`, [item.id])),
  ];
}

function withPast(input: Inquiry): Said[] {
  const past = foundBy(
    input.evidence,
    'read_failure_history',
    'find_similar_failures',
    'search_error_library',
  ).slice(0, MOST);
  if (past.length === 0)
    return [record('No similar earlier failure is known, so there is nothing to compare.')];
  const now = input.topic.subject.failures[0]?.message.split('\n')[0]?.trim() ?? '';
  return past.map((item) => against(item, now));
}

function against(item: Evidence, now: string): Said {
  const then = item.text.split('\n')[0]?.trim() ?? '';
  if (then === '' || now === '') return cited(`Earlier: ${formatTitle(item)}`, [item.id]);
  if (squeeze(then) === squeeze(now))
    return cited(`Earlier, with the same message: ${formatTitle(item)}`, [item.id]);
  const quote = { source: item.source, line: item.lineStart ?? 1, text: then };
  return cited(
    `Earlier: ${formatTitle(item)}. The log said ${quoted(then)} then and says ${quoted(now)} now`,
    [item.id],
    [quote],
  );
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ');
}

const STATEMENTS: Readonly<Record<Aspect, (input: Inquiry) => Said[]>> = {
  cause: causeStatements,
  fix: fixStatements,
  suspects: suspectsStatements,
  certainty: certaintyStatements,
  history: (input) => pastStatements(input, 'read_failure_history', 'count_consecutive_failures'),
  similar: (input) =>
    pastStatements(input, 'find_similar_failures', 'read_failure_history', 'search_error_library'),
  green: greenStatements,
  lines: linesStatements,
  tests: testsStatements,
  category: categoryStatements,
  cost: costStatements,
  others: othersStatements,
};

/**
 * Answers the aspects that the question names, from the stored analysis and the lookups. If it names nothing
 * known, states what can be answered.
 */
export function explanationStatements(input: Inquiry): Said[] {
  const aspects = findAspects(input.question);
  const found = foundBy(input.found, 'grep_log', 'view_log');
  const statements = found.slice(0, MOST).map((item) => buildLineStatement(item, input));
  const wanted = statements.length === 0 ? aspects : aspects.filter((aspect) => aspect !== 'lines');
  const answered = wanted.flatMap((aspect) => STATEMENTS[aspect](input));
  const all = [...statements, ...answered, ...unanswered(input.outcomes)];
  return all.length > 0 ? all : [...causeStatements(input), record(LIMITS)];
}

const LIMITS =
  'I can explain the cause, the fix, the evidence, the suspects, how sure the analysis is, earlier and similar failures, what is new since the last green build, and how the failure happened. I cannot answer other questions, because no language model is configured.';

function causeStatements({ topic }: Inquiry): Said[] {
  const { answer } = topic.analysis;
  const [main, ...rest] = answer.claims;
  const cause = cited(answer.rootCause, main?.evidence ?? []);
  const claims = rest.map((claim) => cited(claim.text, claim.evidence, claim.quotes));
  const open = answer.hypotheses.map(({ text, settledBy }) =>
    record(`Not ruled out: ${asSentence(text)}${settledBy === '' ? '' : ` To confirm: ${settledBy}`}`),
  );
  return [cause, ...claims.slice(0, MOST), ...open.slice(0, 2)];
}

function fixStatements({ topic, evidence }: Inquiry): Said[] {
  const { answer } = topic.analysis;
  const documents = foundBy(evidence, 'search_knowledge').slice(0, 2);
  return [
    cited(answer.fixRecommendation, answer.claims[0]?.evidence ?? []),
    ...documents.map((item) => cited(`The knowledge base has: ${formatTitle(item)}`, [item.id])),
  ];
}

function suspectsStatements({ topic, evidence }: Inquiry): Said[] {
  const suspects = topic.analysis.answer.suspects
    .slice(0, MOST)
    .map(({ path, line, commit, author, reason }) => {
      const who = [commit?.slice(0, 10), author].filter((part) => part != null).join(' by ');
      return record(
        `Suspect: ${path}${line === null ? '' : `:${line}`}${who === '' ? '' : `, last changed in ${who}`} (${reason}).`,
      );
    });
  const commits = foundBy(evidence, 'read_blame', 'read_commit_history').slice(0, 3);
  const all = [...suspects, ...commits.map((item) => cited(formatTitle(item), [item.id]))];
  return all.length > 0
    ? all
    : [record('No file or commit is suspected, and the repository offers no clue to one.')];
}

function certaintyStatements({ topic }: Inquiry): Said[] {
  const { verdict, classification } = topic.analysis;
  return [
    record(
      `The analysis is ${formatConfidence(verdict.confidence)} sure and chose ${verdict.action}: ${verdict.reasons.join('; ') || 'no reason is stored'}.`,
    ),
    ...(classification.abstained ? [record('The category is only its best guess.')] : []),
    ...verdict.gaps.slice(0, 3).map((gap) => record(`Missing: ${gap}`)),
    ...verdict.unsupportedClaims.slice(0, 2).map((claim) => record(`Dropped from the answer: ${claim}`)),
  ];
}

function pastStatements({ evidence }: Inquiry, ...tools: readonly string[]): Said[] {
  const past = foundBy(evidence, ...tools).slice(0, MOST);
  const statements = past.map((item) =>
    cited(item.tool === 'count_consecutive_failures' ? item.text : `Earlier: ${formatTitle(item)}`, [
      item.id,
    ]),
  );
  return statements.length > 0 ? statements : [record('No similar earlier failure is known.')];
}

function greenStatements(input: Inquiry): Said[] {
  const fresh = foundBy(input.evidence, 'diff_with_green').slice(0, MOST);
  if (fresh.length === 0)
    return saysWhyNotGreen(input) ? [] : [record('No green build with a log to compare is known.')];
  return fresh.map((item) => buildLineStatement(item, input));
}

function linesStatements(input: Inquiry): Said[] {
  return foundBy(input.evidence, 'log')
    .slice(0, MOST)
    .map((item) => buildLineStatement(item, input));
}

function testsStatements({ topic }: Inquiry): Said[] {
  const tests = topic.subject.failingTests.slice(0, MOST);
  if (tests.length === 0) return [record('The logs name no failing test.')];
  return tests.map(({ name, suite, file, line, expected, actual }) => {
    const place = file === null ? '' : ` (${file}${line === null ? '' : `:${line}`})`;
    const values = expected === null || actual === null ? '' : `: expected ${expected}, got ${actual}`;
    return record(`Failed: ${suite === null ? '' : `${suite} › `}${name}${place}${values}.`);
  });
}

function categoryStatements({ topic }: Inquiry): Said[] {
  const { category, kind, classification } = topic.analysis;
  const others = Object.entries(classification.probabilities).filter(
    ([name, share]) => name !== category && share >= 0.05,
  );
  const next = others.map(([name, share]) => `${name} ${Math.round(share * 100)} %`).join(', ');
  const share = Math.round(classification.probabilities[category] * 100);
  return [
    record(
      `It is ${category} (${kind}), ${share} % probable${next === '' ? '' : `; otherwise ${next}`}. Decided by: ${classification.because}.`,
    ),
  ];
}

function costStatements({ topic }: Inquiry): Said[] {
  const { usage, milliseconds, model, analyst } = topic.analysis;
  const tokens = usage.inputTokens + usage.outputTokens;
  const spent = tokens === 0 ? 'no tokens' : `${tokens} tokens, $${usage.costUsd.toFixed(4)}`;
  return [
    record(
      `It took ${(milliseconds / 1000).toFixed(1)} s, ${usage.iterations} rounds, ` +
        `${usage.toolCalls} tool calls and ${spent}; answered by ${model ?? analyst}.`,
    ),
  ];
}

function othersStatements({ topic }: Inquiry): Said[] {
  if (topic.otherCauses.length === 0) return [record('No other cause of this build was analyzed.')];
  return topic.otherCauses.map(({ analysisId, category, title }) =>
    record(`Also in this build: ${title} (${category}, ${analysisId}).`),
  );
}

const MOST_LINES = 8;
const MOST_COMMITS = 3;

/**
 * Explains how the failure came about: what happened before the build, then its log from top to bottom, then
 * the conclusion.
 */
export function journeyStatements(input: Inquiry): Said[] {
  const { topic, evidence, outcomes } = input;
  const { answer } = topic.analysis;
  const commits = foundBy(evidence, 'read_commit_history').slice(0, MOST_COMMITS).reverse();
  return [
    ...foundBy(evidence, 'count_consecutive_failures').map((item) => cited(item.text, [item.id])),
    ...commits.map((item) => cited(`Just before: ${formatTitle(item)}`, [item.id])),
    record(describeStart(input)),
    ...inLogOrder(input).map((item) => buildLineStatement(item, input)),
    cited(`Conclusion: ${answer.title}.`, answer.claims[0]?.evidence ?? []),
    ...unanswered(outcomes),
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
function inLogOrder({ topic, evidence }: Inquiry): Evidence[] {
  const order = new Map(topic.subject.sources.map(({ name }, index) => [name, index]));
  const known = evidence.filter(
    (item) => item.lineStart !== undefined && (order.has(item.source) || item.tool === 'log'),
  );
  return firstOfEach(known, ({ source, lineStart }) => `${source}:${lineStart}`)
    .sort(
      (left, right) =>
        (order.get(left.source) ?? 0) - (order.get(right.source) ?? 0) ||
        (left.lineStart ?? 0) - (right.lineStart ?? 0),
    )
    .slice(0, MOST_LINES);
}
