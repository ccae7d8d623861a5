import { styleText } from 'node:util';
import { type Analysis, type Hypothesis, isJudged, type Suspect, saidCategory } from '../../domain/analysis.ts';
import { maxOf } from '../../lib/lists.ts';
import { asSentence, cutCharacters } from '../../lib/text.ts';
import {
  confirmation,
  failureCount,
  formOf,
  otherEvidence,
  percent,
  proofLines,
  recordOf,
  sinceGreen,
  usageParts,
} from '../../notifications/answer-facts.ts';
import {
  clip,
  codeSpan,
  disarmRunnerCommands,
  fence,
  html,
  inline,
  prose,
  visibleLine,
  visibleLines,
  wrap,
} from '../../notifications/visible-text.ts';

interface PlainOptions {
  /** Leaves out usage and id: two runs over the same log then print the same. */
  readonly stable?: boolean;
}

const MAX_PROSE_PLAIN = 4000;

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
  return rows.map(([key, value]) => `${key}\t${disarmRunnerCommands(clip(visibleLine(value), MAX_PROSE_PLAIN))}\n`).join('');
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

interface TerminalOptions {
  readonly color: boolean;
  /** Columns of the terminal; under 40 counts as 40. */
  readonly width: number;
}

type Style = Parameters<typeof styleText>[0];

const INDENT = 9;
const MAX_PROSE_TERMINAL = 2000;

/**
 * The block a person reads, without the rules around it and without the hints below it. Ends with a line end. No line is
 * wider than `width`, except where a character is wider than one column. Without `color` it holds no escape.
 */
export function renderTerminal(analysis: Analysis, { color, width }: TerminalOptions): string {
  const columns = Math.max(40, width);
  const paint = (style: Style, text: string) => (color ? styleText(style, text, { validateStream: false }) : text);
  const { answer } = analysis;
  const lines = [
    ...heading(analysis, columns, paint),
    ...paragraph(answer.title, columns).map((line) => paint('bold', line)),
    ...(answer.rootCause.trim() === answer.title.trim() ? [] : paragraph(answer.rootCause, columns)),
    ...row('Fix', [answer.fixRecommendation], columns, paint),
    ...evidenceRows(analysis, columns, paint),
    ...row('New', [sinceGreen(analysis) ?? ''], columns, paint),
    ...row('Suspect', answer.suspects.map(describeSuspect), columns, paint),
    ...row(
      'Or',
      answer.hypotheses.map((hypothesis, index) => `${index + 1}. ${describeHypothesis(hypothesis)}`),
      columns,
      paint,
    ),
    ...row('Record', [recordOf(analysis) ?? ''], columns, paint),
    ...row('Note', analysis.notes, columns, paint),
    ...wrap([...usageParts(analysis), visibleLine(analysis.id)].join(' · '), columns).map((line) => paint('dim', line)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

type Paint = (style: Style, text: string) => string;

function heading(analysis: Analysis, columns: number, paint: Paint): string[] {
  if (!isJudged(analysis)) return [paint('yellow', 'Not analyzed: needs review')];
  const what = `${analysis.category} · ${analysis.kind}`;
  const confidence = percent(analysis.verdict.confidence);
  switch (formOf(analysis)) {
    case 'known':
      return [...spread(what, 'known cause', columns, 'green', paint), ...paragraph(confirmation(analysis) ?? '', columns)];
    case 'sure':
      return spread(what, `${confidence} sure`, columns, 'green', paint);
    case 'unsure': {
      const guess = analysis.classification.abstained ? `best guess ${what}` : what;
      return spread(`Not sure: ${guess}`, `only ${confidence} sure`, columns, 'yellow', paint);
    }
  }
}

/** Left and right of one line, or on two lines where they do not fit. */
function spread(left: string, right: string, columns: number, style: Style, paint: Paint): string[] {
  const gap = columns - left.length - right.length;
  if (gap < 2) return [paint(['bold', 'cyan'], left), paint(style, right)];
  return [`${paint(['bold', 'cyan'], left)}${' '.repeat(gap)}${paint(style, right)}`];
}

function paragraph(text: string, columns: number): string[] {
  return visibleLines(clip(text, MAX_PROSE_TERMINAL))
    .filter((line) => line.trim() !== '')
    .flatMap((line) => wrap(line.trim(), columns))
    .map(disarmRunnerCommands);
}

/** A key and its values; later values and continued lines stand under the first. */
function row(key: string, values: readonly string[], columns: number, paint: Paint): string[] {
  const lines = values.flatMap((value) => paragraph(value, columns - INDENT));
  return lines.map((line, index) => `${index === 0 ? paint('bold', key.padEnd(INDENT)) : ' '.repeat(INDENT)}${line}`);
}

/** Log lines are cut, never wrapped, so that each keeps its number. */
function evidenceRows(analysis: Analysis, columns: number, paint: Paint): string[] {
  const proof = proofLines(analysis);
  const oneSource = new Set(proof.map(({ source }) => source)).size === 1;
  const places = proof.map(({ source, line }) => (oneSource ? `${line}` : `${visibleLine(source)}:${line}`));
  const placeWidth = Math.min(
    columns - INDENT - 12,
    maxOf(
      places.map((place) => place.length),
      0,
    ),
  );
  const rows = proof.map(({ text }, index) => {
    const place = (places[index] ?? '').slice(-placeWidth).padStart(placeWidth);
    return `${paint('dim', place)}  ${cutCharacters(disarmRunnerCommands(visibleLines(text)[0] ?? ''), columns - INDENT - placeWidth - 2)}`;
  });
  const others = otherEvidence(analysis).flatMap(({ source, title }) => paragraph(`${source}: ${title}`, columns - INDENT));
  return [...rows, ...others].map(
    (line, index) => `${index === 0 ? paint('bold', 'Evidence '.padEnd(INDENT)) : ' '.repeat(INDENT)}${line}`,
  );
}

const MAX_PROSE_MARKDOWN = 3000;
const MAX_TITLE = 200;
const MAX_LIST = 5;

/**
 * One analysis as GitHub-flavoured Markdown: a headline, the cause with its fix and proof, and what it cost. Everything from
 * logs, models and people is neutralised: no mention, link, image, HTML or comment marker survives, no fence can be left.
 * At most about 25,000 characters.
 */
export function renderMarkdown(analysis: Analysis): string {
  const blocks = formOf(analysis) === 'unsure' ? unsure(analysis) : answered(analysis);
  return `${[...blocks, footer(analysis)].join('\n\n')}\n`;
}

function answered(analysis: Analysis): string[] {
  const { answer } = analysis;
  const confirmed = confirmation(analysis);
  const standing = confirmed === null ? `${percent(analysis.verdict.confidence)} sure` : `known cause, ${html(confirmed)}`;
  const title = html(clip(answer.title, MAX_TITLE));
  return [
    `<details open><summary><b>${title}</b>: ${analysis.category} · ${analysis.kind}, ${failureCount(analysis)}, ${standing}</summary>`,
    prose(clip(answer.rootCause, MAX_PROSE_MARKDOWN)),
    `**Fix:** ${inline(clip(answer.fixRecommendation, MAX_PROSE_MARKDOWN))}`,
    ...proof(analysis),
    '</details>',
  ].filter((block) => block !== '');
}

function unsure(analysis: Analysis): string[] {
  const { answer, verdict } = analysis;
  const hypotheses = answer.hypotheses.slice(0, MAX_LIST);
  const fits = hypotheses.length > 1 ? `${hypotheses.length} explanations fit` : clip(answer.title, MAX_TITLE);
  const guess = isJudged(analysis) ? `: best guess ${analysis.category} · ${analysis.kind}` : '';
  const question = isJudged(analysis)
    ? `Faultline is not sure why (${percent(verdict.confidence)}). The answer needs review.`
    : 'Faultline could not analyze it. It needs review.';
  return [
    `**${failureCount(analysis)}. ${question}**`,
    `<details open><summary><b>${html(fits)}</b>${guess}</summary>`,
    prose(clip(answer.rootCause, MAX_PROSE_MARKDOWN)),
    hypotheses
      .map(({ category, text, settledBy }, index) => {
        const settled = settledBy === '' ? '' : ` To confirm: ${inline(clip(settledBy, 500))}`;
        return `${index + 1}. ${category}: ${inline(clip(asSentence(text), 1000))}${settled}`;
      })
      .join('\n'),
    answer.fixRecommendation === '' ? '' : `**Try:** ${inline(clip(answer.fixRecommendation, MAX_PROSE_MARKDOWN))}`,
    ...proof(analysis),
    verdict.reasons.length === 0
      ? ''
      : `Needs review because: ${verdict.reasons
          .slice(0, MAX_LIST)
          .map((reason) => inline(clip(reason, 300)))
          .join('; ')}`,
    '</details>',
  ].filter((block) => block !== '');
}

function proof(analysis: Analysis): string[] {
  const lines = proofLines(analysis);
  const sources = [...new Set(lines.map(({ source }) => source))];
  const width = maxOf(
    lines.map(({ line }) => `${line}`.length),
    0,
  );
  const fences = sources.flatMap((source) => {
    const shown = lines.filter((line) => line.source === source).map(({ line, text }) => `${`${line}`.padStart(width)}  ${text}`);
    return [...(sources.length > 1 ? [codeSpan(clip(source, MAX_TITLE))] : []), fence(shown)];
  });
  const suspects = analysis.answer.suspects.slice(0, MAX_LIST).map(({ path, line, commit, author }) => {
    const by = [commit?.slice(0, 7), author].flatMap((part) => (part ? [inline(clip(part, 100))] : []));
    return `${codeSpan(clip(line === null ? path : `${path}:${line}`, MAX_TITLE))}${by.length === 0 ? '' : ` (${by.join(', ')})`}`;
  });
  const others = otherEvidence(analysis).map(({ source, title }) => `${inline(clip(source, 100))}: ${inline(clip(title, MAX_TITLE))}`);
  const since = sinceGreen(analysis);
  return [
    ...fences,
    since === null ? '' : inline(`New ${since}`),
    suspects.length === 0 ? '' : `Suspect ${suspects.join(' · ')}`,
    others.length === 0 ? '' : `See also ${others.join(' · ')}`,
  ];
}

/** `<sub>` stands inside a paragraph, so Markdown is read in it. */
function footer(analysis: Analysis): string {
  const notes = analysis.notes.slice(0, MAX_LIST).map((note) => clip(note, 300));
  const record = recordOf(analysis);
  return `<sub>${[...notes, ...(record === null ? [] : [record]), ...usageParts(analysis), analysis.id].map(inline).join(' · ')}</sub>`;
}

/**
 * A workflow command (`::error file=…,line=…,title=…::message`) for a step of GitHub Actions to print: one per cause, at the first
 * suspect whose line is known, else without a place: an annotation at a guess would only hide. An answer that is not sure is a
 * `::warning`.
 */
export function renderGithubCommands(analysis: Analysis): string {
  const { answer } = analysis;
  const form = formOf(analysis);
  const command = form === 'unsure' ? 'warning' : 'error';
  const standing = confirmation(analysis) ?? `${form === 'unsure' ? 'not sure, ' : ''}${percent(analysis.verdict.confidence)}`;
  const title = property(`${clip(answer.title, 150)} (${saidCategory(analysis)}, ${standing})`);
  const message = data(`${clip(answer.rootCause, 1500)} Fix: ${clip(answer.fixRecommendation, 1500)}`);
  const suspect = answer.suspects.find(({ line }) => line !== null);
  const place = suspect === undefined ? '' : `file=${property(suspect.path)},line=${suspect.line},`;
  return `::${command} ${place}title=${title}::${message}\n`;
}

function data(text: string): string {
  return visibleLine(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
