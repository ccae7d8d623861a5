import { type Analysis, type Hypothesis, type Suspect, saidCategory } from '../domain/analysis.ts';
import { asSentence } from '../lib/text.ts';
import { confirmation, formOf, otherEvidence, percent, proofLines, recordOf, sinceGreen, usageParts } from './answer-facts.ts';
import { clip, disarmRunnerCommands, visibleLine } from './visible-text.ts';

export interface PlainOptions {
  /** Leaves out usage and id: two runs over the same log then print the same. */
  readonly stable?: boolean;
}

const MAX_PROSE = 4000;

/**
 * The answer as `Key<tab>value` lines for pipes and files: no colour, no box, one value a line, keys repeat where there are
 * several. Ends with a line end. Keys: Answer (known, sure or unsure), Category, Kind, Confidence, Confirmed, Title, Cause,
 * Fix, Evidence, New, Suspect, Record, Hypothesis, Note, Usage, Id.
 */
export function renderPlain(analysis: Analysis, options: PlainOptions = {}): string {
  const { answer } = analysis;
  const confirmed = confirmation(analysis);
  const since = sinceGreen(analysis);
  const record = recordOf(analysis);
  const rows: (readonly [string, string])[] = [
    ['Answer', formOf(analysis)],
    ['Category', saidCategory(analysis)],
    ['Kind', analysis.kind],
    ['Confidence', percent(analysis.verdict.confidence)],
    ...(confirmed === null ? [] : [['Confirmed', confirmed] as const]),
    ['Title', answer.title],
    ['Cause', answer.rootCause],
    ['Fix', answer.fixRecommendation],
    ...proofLines(analysis).map(({ source, line, text }) => ['Evidence', `${source}:${line} ${text}`] as const),
    ...otherEvidence(analysis).map(({ source, title }) => ['Evidence', `${source} ${title}`] as const),
    ...(since === null ? [] : [['New', since] as const]),
    ...answer.suspects.map((suspect) => ['Suspect', describeSuspect(suspect)] as const),
    ...(record === null ? [] : [['Record', record] as const]),
    ...answer.hypotheses.map((hypothesis) => ['Hypothesis', describeHypothesis(hypothesis)] as const),
    ...analysis.notes.map((note) => ['Note', note] as const),
    ...(options.stable ? [] : [['Usage', usageParts(analysis).join(' · ')] as const, ['Id', analysis.id] as const]),
  ];
  return rows.map(([key, value]) => `${key}\t${disarmRunnerCommands(clip(visibleLine(value), MAX_PROSE))}\n`).join('');
}

/** "src/cart/tax.ts:41 a41f9c2 ada 0.81". Raw text: escape it. */
export function describeSuspect(suspect: Suspect): string {
  const place = suspect.line === null ? suspect.path : `${suspect.path}:${suspect.line}`;
  return [place, suspect.commit?.slice(0, 7), suspect.author, suspect.score.toFixed(2)].filter((part) => part != null).join(' ');
}

/** "CONFIG_ERROR: `TAX_TABLE` is not set. To confirm: the job's environment". Raw text: escape it. */
export function describeHypothesis(hypothesis: Hypothesis): string {
  const settled = hypothesis.settledBy === '' ? '' : ` To confirm: ${hypothesis.settledBy}`;
  return `${hypothesis.category}: ${asSentence(hypothesis.text)}${settled}`;
}
