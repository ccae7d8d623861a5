import { type Analysis, type Hypothesis, isJudged, type Suspect } from '../domain/analysis.ts';
import { shortenCommit } from '../domain/build.ts';
import { nameCategory, nameKind } from '../domain/category-words.ts';
import { describeOwner } from '../domain/cause.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { ExplainedFailures } from '../domain/explained-failures.ts';
import { describeRerun } from '../domain/rerun.ts';
import { formatVersionChange, getChangesHeading } from '../domain/version-changes.ts';
import { formatConfidence, formatCount, toSentence } from '../lib/text.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { nameTests } from './build-answers.ts';
import { describeRecord } from './describe-record.ts';
import { describeWork } from './describe-work.ts';
import { clip, formatNumber } from './visible-text.ts';

/**
 * The form of an answer: a person's decision about a known cause, a confident answer, or a question to a
 * person.
 */
export type AnswerForm = 'known' | 'sure' | 'unsure';

/** A line that proves the answer: its position and its text, unescaped. */
export interface ProofLine {
  readonly source: string;
  readonly line: number;
  readonly text: string;
}

/**
 * One fact of an answer. Every output renders it by its kind, so a new fact needs only one entry in
 * `listFacts`. Its texts are raw: the output that renders them must escape and cut them.
 */
export type AnswerFact = {
  /**
   * One capitalized word of at most ten letters: the key in plain output, and the text in the terminal's
   * margin.
   */
  readonly name: string;
  /** The text before a colon, or the heading. */
  readonly label: string;
  /**
   * The outputs that show the fact. `everywhere`: also in comments and chat, which are short. `answer`: in
   * full answers. `review`: only for reviewers.
   */
  readonly reach: 'everywhere' | 'answer' | 'review';
  /** The entries of the fact as text. Never empty. */
  readonly values: readonly string[];
} & (
  | { readonly kind: 'prose' | 'list' | 'note' }
  | { readonly kind: 'lines'; readonly lines: readonly ProofLine[] }
  | { readonly kind: 'files'; readonly files: readonly Suspect[] }
  | { readonly kind: 'choices'; readonly choices: readonly Hypothesis[] }
  /** `more` is the number of failed tests that are not named. */
  | { readonly kind: 'tests'; readonly tests: readonly string[]; readonly more: number }
);

/** An answer as every output shows it. */
export interface AnswerView {
  readonly id: string;
  readonly form: AnswerForm;
  /** "Test failure", or that there is no judgement. */
  readonly category: string;
  /** "Test failure · wrong value"; null if there is no judgement. */
  readonly what: string | null;
  /** "91 %". */
  readonly confidence: string;
  /** "confirmed by ada on 2026-10-12, seen 14 times"; null if no known cause answered. */
  readonly confirmed: string | null;
  /**
   * The credibility of the answer: the confirmation, "91 % sure", "not sure, only 61 %" or "the analysis
   * failed".
   */
  readonly standing: string;
  readonly title: string;
  /** The facts in reading order; the last ones are small print. */
  readonly facts: readonly AnswerFact[];
  /** The cost of the answer, its inputs, and its id. */
  readonly usage: readonly string[];
  /** The same with the steps, the documents that were read, and the cache hits. */
  readonly usageInFull: readonly string[];
}

const MAX_PROOF_LINES = 8;
const MAX_LINE_CHARACTERS = 300;
const MAX_NAMES = 3;
const MAX_NAME_CHARACTERS = 120;

/** The maximum number of tests of one answer that are named. The rest is counted. */
const MAX_TESTS = 5;
/** The maximum number of logs of one answer that are named. At most five entries of a list are shown. */
const MAX_LOGS = 4;

/**
 * Describes an answer in words. `why` says why a person is asked; without it, the answer's own reasons do.
 * `explains` describes its failures among those of its build; without it, they are not mentioned.
 */
export function answerView(
  analysis: Analysis,
  why?: readonly string[],
  explains?: ExplainedFailures,
): AnswerView {
  const form = resolveForm(analysis);
  const confidence = formatConfidence(analysis.verdict.confidence);
  const confirmed = describeConfirmation(analysis);
  const judged = form === 'unsure' ? `not sure, only ${confidence}` : `${confidence} sure`;
  return {
    id: analysis.id,
    form,
    confidence,
    confirmed,
    title: analysis.answer.title,
    category: isJudged(analysis) ? nameCategory(analysis.category) : 'not analyzed',
    what: isJudged(analysis) ? `${nameCategory(analysis.category)} · ${nameKind(analysis.kind)}` : null,
    standing: isJudged(analysis) ? (confirmed ?? judged) : 'the analysis failed',
    facts: listFacts(analysis, why ?? (form === 'unsure' ? analysis.verdict.reasons : []), explains).filter(
      ({ values }) => values.some((value) => value.trim() !== ''),
    ),
    usage: [...listUsageParts(analysis, explains, describeTools(analysis)), analysis.id],
    usageInFull: [...listUsageParts(analysis, explains, describeWork(analysis)), analysis.id],
  };
}

function listFacts(
  analysis: Analysis,
  why: readonly string[],
  explains: ExplainedFailures | undefined,
): AnswerFact[] {
  const { answer, verdict, notes } = analysis;
  const { suspects: files, hypotheses: choices } = answer;
  const lines = listProofLines(analysis);
  const cause = answer.rootCause.trim() === answer.title.trim() ? '' : answer.rootCause;
  const places = lines.map(({ source, line, text }) => `${source}:${line} ${text}`);
  const related = listOtherEvidence(analysis).map(({ url, source, title }) => `${url ?? source}: ${title}`);
  const lowered = (verdict.factors ?? []).filter(({ value }) => value < 0).map(({ because }) => because);
  const against = [...lowered, ...verdict.unsupportedClaims.map((claim) => `No evidence for: ${claim}`)];
  const since = analysis.green === undefined ? [] : [`since build ${clip(analysis.green.number, 100)}`];
  const changed = describeChanges(analysis);
  const heading = getChangesHeading(analysis.changes ?? { isSameCommit: false });
  const tried = analysis.experiment === undefined ? [] : [analysis.experiment.sentence];
  const behind = (analysis.experiment?.polluters ?? [])
    .slice(0, MAX_NAMES)
    .map((name) => clip(name, MAX_NAME_CHARACTERS));
  const decided = describePrecedents(analysis);
  // If an experiment ran the command again, its result replaces this advice.
  const again = analysis.experiment === undefined ? describeRerun(answer.transient, analysis) : null;
  const owner = analysis.owner === undefined ? [] : [describeOwner(analysis.owner)];
  return [
    { name: 'Tried', label: 'Tried', reach: 'answer', kind: 'list', values: tried },
    { name: 'Behind', label: 'Fails after', reach: 'answer', kind: 'list', values: behind },
    { name: 'Cause', label: 'Cause', reach: 'everywhere', kind: 'prose', values: [cause] },
    { name: 'Fix', label: 'Fix', reach: 'everywhere', kind: 'prose', values: [answer.fixRecommendation] },
    {
      name: 'Rerun',
      label: 'Re-run',
      reach: 'everywhere',
      kind: 'list',
      values: again === null ? [] : [again],
    },
    { name: 'Owner', label: 'Owner', reach: 'everywhere', kind: 'list', values: owner },
    ...(explains === undefined || explains.isOnly ? [] : listFailureFacts(explains)),
    { name: 'Evidence', label: 'Evidence', reach: 'everywhere', kind: 'lines', values: places, lines },
    { name: 'Precedent', label: 'Decided before', reach: 'answer', kind: 'list', values: decided },
    { name: 'Related', label: 'See also', reach: 'answer', kind: 'list', values: related },
    { name: 'Changed', label: heading, reach: 'answer', kind: 'list', values: changed },
    { name: 'New', label: 'New', reach: 'answer', kind: 'list', values: since },
    {
      name: 'Suspect',
      label: 'Suspects',
      reach: 'answer',
      kind: 'files',
      values: files.map(describeSuspect),
      files,
    },
    {
      name: 'Hypothesis',
      label: 'Possible explanations',
      reach: 'answer',
      kind: 'choices',
      values: choices.map(describeChoice),
      choices,
    },
    { name: 'Reason', label: 'Needs review because', reach: 'answer', kind: 'list', values: why },
    { name: 'Against', label: 'Reasons for doubt', reach: 'review', kind: 'list', values: against },
    { name: 'Unknown', label: 'Unknown', reach: 'review', kind: 'list', values: verdict.gaps },
    { name: 'Record', label: 'Accuracy', reach: 'answer', kind: 'note', values: describeRecord(analysis) },
    { name: 'Note', label: 'Notes', reach: 'answer', kind: 'note', values: notes },
  ];
}

/**
 * The maximum number of versions that changed since the last green run. Those that explain the failure come
 * first.
 */
const MAX_CHANGED = 5;

function describeChanges({ changes }: Analysis): string[] {
  if (changes === undefined) return [];
  const listed = changes.changes
    .slice(0, MAX_CHANGED)
    .map((change) => clip(formatVersionChange(change), 200));
  const rest = changes.changes.length - listed.length + changes.more;
  return rest === 0 ? listed : [...listed, `and ${formatNumber(rest)} more`];
}

/**
 * Describes the most similar failure that a person decided: "Configuration: Pump not primed, confirmed by ida
 * (acme/pumps, 62 % alike)".
 */
function describePrecedents({ answer }: Analysis): string[] {
  const decided = (answer.similarCases ?? []).filter(({ confirmedBy }) => confirmedBy !== null).slice(0, 1);
  return decided.map(({ category, title, repository, score }) => {
    const alike = `${formatConfidence(score)} alike`;
    const where = repository === undefined ? alike : `${repository}, ${alike}`;
    return `${category === null ? '' : `${nameCategory(category)}: `}${title} (${where})`;
  });
}

/** Lists the failures that an answer is about, if its build has more than one. */
function listFailureFacts(explains: ExplainedFailures): AnswerFact[] {
  const { named: tests, more } = nameTests(explains, MAX_TESTS);
  const named = more === 0 ? tests : [...tests, `and ${formatNumber(more)} more`];
  const grouped = explains.grouped === null ? [] : [explains.grouped];
  const many = explains.logs.length - MAX_LOGS;
  const logs =
    many > 0 ? [...explains.logs.slice(0, MAX_LOGS), `and ${formatNumber(many)} more`] : explains.logs;
  return [
    { name: 'Test', label: 'Failed tests', reach: 'everywhere', kind: 'tests', values: named, tests, more },
    { name: 'Grouped', label: 'Grouped', reach: 'everywhere', kind: 'list', values: grouped },
    { name: 'Log', label: 'Failed in', reach: 'everywhere', kind: 'list', values: logs },
  ];
}

/**
 * Returns the facts for which outputs for programs have no field of their own, by name. They are short texts,
 * at most five for each fact, cut and well-formed.
 */
export function collectMoreFacts(analysis: Analysis): Record<string, string[]> {
  const plain = answerView(analysis).facts.filter(
    ({ kind, reach }) => (kind === 'list' || kind === 'note') && reach !== 'review',
  );
  return Object.fromEntries(
    plain.map(({ name, values }) => [
      name,
      values.slice(0, 5).map((value) => clip(value, MAX_LINE_CHARACTERS).toWellFormed()),
    ]),
  );
}

/** Describes a suspect: "src/cart/tax.ts:41 a41f9c2 ada 0.81". */
function describeSuspect(suspect: Suspect): string {
  const by = [suspect.commit && shortenCommit(suspect.commit), suspect.author, suspect.score.toFixed(2)];
  return [formatPlace(suspect), ...by].filter((part) => part != null).join(' ');
}

/** Formats the place of a suspect: "src/cart/tax.ts:41". */
export function formatPlace({ path, line }: Suspect): string {
  return line === null ? path : `${path}:${line}`;
}

/** Describes a hypothesis: "Configuration: `TAX_TABLE` is not set. To confirm: the job's environment". */
function describeChoice({ category, text, settledBy }: Hypothesis): string {
  const settled = settledBy === '' ? '' : ` To confirm: ${settledBy}`;
  return `${nameCategory(category)}: ${toSentence(text)}${settled}`;
}

/**
 * Returns the form of an answer: `known` if a person's earlier decision answered, `sure` if it may be
 * published, else `unsure`. An unsure answer waits for a person.
 */
export function resolveForm(analysis: Analysis): AnswerForm {
  if (analysis.recalled !== null) return 'known';
  return analysis.verdict.action === 'auto_notify' && !analysis.classification.abstained ? 'sure' : 'unsure';
}

/**
 * Returns the lines that prove the answer, in the order of the log and without their timestamps. These are
 * the quotations of its claims, else the first lines of the evidence that the claims cite, else the first
 * lines of any evidence from a log. At most eight lines, each at most 300 characters.
 */
export function listProofLines(analysis: Analysis): ProofLine[] {
  const quotes = analysis.answer.claims.flatMap((claim) => claim.quotes);
  const lines = quotes.length > 0 ? quotes : listCitedEvidence(analysis).flatMap(splitLines);
  const unique = new Map(lines.map((line) => [`${line.line} ${line.source}`, line]));
  const getText = (line: ProofLine) => (quotes.length > 0 ? formatProofLine(analysis, line) : line.text);
  return [...unique.values()]
    .slice(0, MAX_PROOF_LINES)
    .sort((a, b) => (a.source === b.source ? a.line - b.line : 0))
    .map((line) => ({ ...line, text: clip(getText(line).split('\n', 1)[0] ?? '', MAX_LINE_CHARACTERS) }));
}

/**
 * Returns evidence that supports the answer but is not a line of a log: a document, a past failure, a commit,
 * and web pages even if nothing cites them. At most three titles.
 */
function listOtherEvidence(analysis: Analysis): Evidence[] {
  const cited = new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence));
  return analysis.evidence
    .filter(({ id, lineStart }) => cited.has(id) && lineStart === undefined)
    .concat(analysis.evidence.filter(({ id, tool }) => tool === 'search_web' && !cited.has(id)))
    .slice(0, 3);
}

/**
 * Lists the cost and inputs of the answer: "3 failures, 1 cause", "12 s", "14,210 tokens", "$0.02", "4 tools
 * asked", "311,101 log lines → 412 kept".
 */
function listUsageParts(
  analysis: Analysis,
  explains: ExplainedFailures | undefined,
  work: readonly string[],
): string[] {
  const { usage, reduction } = analysis;
  const tokens = usage.inputTokens + usage.outputTokens;
  return [
    `${formatFailureCount(analysis, explains)}, 1 cause`,
    formatDuration(analysis.milliseconds),
    usage.modelCalls === 0 ? 'no model' : `${formatNumber(tokens)} tokens`,
    ...(usage.modelCalls === 0 ? [] : [formatDollars(usage.costUsd)]),
    ...work,
    `${formatNumber(reduction.logLines)} log lines → ${formatNumber(reduction.keptLines)} kept`,
  ];
}

function describeTools({ usage: { toolCalls } }: Analysis): string[] {
  return toolCalls === 0 ? [] : [`${formatCount(toolCalls, 'tool')} asked`];
}

/** Formats the number of failures: "1 failure", "14 failures". */
export function formatFailureCount(analysis: Analysis, explains?: ExplainedFailures): string {
  return formatCount(explains?.failures ?? Math.max(1, analysis.failureIds.length), 'failure');
}

function describeConfirmation(analysis: Analysis): string | null {
  if (analysis.recalled === null) return null;
  const { confirmedBy, confirmedAt, timesSeen } = analysis.recalled;
  return `confirmed by ${clip(confirmedBy, 100)} on ${confirmedAt.slice(0, 10)}, seen ${timesSeen === 1 ? 'once' : `${formatNumber(timesSeen)} times`}`;
}

/**
 * Returns the line as a person saw it, without leading time and stream marks. For an overlong line, returns
 * only the quoted part.
 */
function formatProofLine(analysis: Analysis, quote: ProofLine): string {
  const line = cleanLine(stripEscapes(findWholeLine(analysis, quote)));
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const lastPart = quote.text.split(/ {3,}/).at(-1) ?? quote.text;
  return line.startsWith(quote.text.slice(0, 40)) && quote.text.length > MAX_LINE_CHARACTERS
    ? line
    : lastPart;
}

function findWholeLine(analysis: Analysis, quote: ProofLine): string {
  const evidence = analysis.evidence.find(
    ({ source, lineStart, lineEnd }) =>
      source === quote.source &&
      lineStart !== undefined &&
      lineStart <= quote.line &&
      quote.line <= (lineEnd ?? 0),
  );
  const line = evidence?.text.split('\n')[quote.line - (evidence.lineStart ?? 1)];
  return line?.includes(quote.text) ? line : quote.text;
}

function listCitedEvidence(analysis: Analysis): Evidence[] {
  const located = analysis.evidence.filter(({ lineStart }) => lineStart !== undefined);
  const cited = new Set(analysis.answer.claims.flatMap(({ evidence }) => evidence));
  const named = located.filter(({ id }) => cited.has(id));
  return named.length > 0 ? named : located.filter(({ tool }) => tool === 'log').slice(0, 1);
}

function splitLines({ source, lineStart = 1, text }: Evidence): ProofLine[] {
  return text
    .split('\n')
    .map((line, index) => ({ source, line: lineStart + index, text: line }))
    .filter((line) => line.text.trim() !== '');
}

/** Formats a duration: 340 → "340 ms", 1200 → "1.2 s", 12000 → "12 s". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 10_000
    ? `${(milliseconds / 1000).toFixed(1)} s`
    : `${formatNumber(milliseconds / 1000)} s`;
}

/** Formats an amount of dollars to the cent, or by its first digit: 0.021 → "$0.02", 0.0034 → "$0.003". */
export function formatDollars(dollars: number): string {
  const digits = dollars > 0 && dollars < 0.01 ? Math.min(8, Math.ceil(-Math.log10(dollars))) : 2;
  return `$${dollars.toFixed(digits)}`;
}
