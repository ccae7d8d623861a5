import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import type { DecisionInput, ShownBy } from '../../domain/review.ts';
import type { ArchivedSource } from '../../ports/build-archive.ts';

/** The maximum number of logs that an error names. */
const MAX_NAMES = 10;

/**
 * Throws `invalid-input` if a decision cannot be stored: a rejection without a reason; a reason code without
 * a rejection; a correction that has no category, changes nothing, has a blank text, or names evidence or
 * lines that cannot exist; or corrected fields in another decision.
 */
export function checkDecision(input: DecisionInput, analysis: Analysis): void {
  if (input.type === 'reject' && input.reasonCode === undefined && isBlank(input.reason))
    throw createInvalidError('A rejection needs a reason: describe what is wrong with the answer.');
  if (input.type !== 'reject' && input.reasonCode !== undefined)
    throw createInvalidError(`A reason code can only be used with reject, not with ${input.type}.`);
  if (input.type === 'correct') checkCorrection(input, analysis);
  else refuseCorrectedFields(input);
}

function checkCorrection(input: DecisionInput, analysis: Analysis): void {
  if (input.category === undefined)
    throw createInvalidError('A correction needs a category, even if the category was right.');
  for (const field of ['rootCause', 'fixRecommendation'] as const) {
    if (input[field] !== undefined && isBlank(input[field]))
      throw createInvalidError(`The corrected ${field} is blank. Omit it to keep Faultline's text.`);
  }
  if (input.shownBy !== undefined && input.shownBy !== 'none') checkShownBy(input.shownBy, analysis);
  if (isDifferent(input, analysis) || addsLines(input)) return;
  throw createInvalidError(
    'This correction changes nothing: give another category, kind, root cause or fix, add lines that show ' +
      'the cause, or accept the answer as it is.',
  );
}

/** Returns true if a correction differs from the analysis in category, kind, cause or fix. */
export function isDifferent(input: DecisionInput, { category, kind, answer }: Analysis): boolean {
  return (
    input.category !== category ||
    (input.kind ?? kind) !== kind ||
    (input.rootCause ?? answer.rootCause).trim() !== answer.rootCause.trim() ||
    (input.fixRecommendation ?? answer.fixRecommendation).trim() !== answer.fixRecommendation.trim()
  );
}

/** Checks whether a correction names lines of a log that show the cause. */
function addsLines({ shownBy }: DecisionInput): boolean {
  return shownBy !== undefined && shownBy !== 'none' && shownBy.lines.length > 0;
}

function checkShownBy({ evidence, lines }: Exclude<ShownBy, 'none'>, analysis: Analysis): void {
  if (evidence.length + lines.length === 0)
    throw createInvalidError(
      'Select the evidence or lines that show the cause, or state that no line shows it.',
    );
  const known = new Set(analysis.evidence.map(({ id }) => id));
  const unknown = evidence.filter((id) => !known.has(id));
  if (unknown.length > 0) throw createInvalidError(`This analysis has no evidence ${unknown.join(', ')}.`);
  for (const { source, lineStart, lineEnd } of lines) {
    if (lineEnd < lineStart)
      throw createInvalidError(`The lines ${lineStart}-${lineEnd} of ${source} end before they begin.`);
  }
}

/**
 * Throws `invalid-input` if the build has no such log or line. If none of its texts is archived any more,
 * nothing is checked.
 */
export function checkLines(
  { shownBy }: DecisionInput,
  archived: readonly Pick<ArchivedSource, 'name' | 'lines'>[],
): void {
  if (shownBy === undefined || shownBy === 'none' || archived.length === 0) return;
  const lengths = new Map(archived.map(({ name, lines }) => [name, lines]));
  for (const { source, lineEnd } of shownBy.lines) {
    const length = lengths.get(source);
    if (length === undefined)
      throw createInvalidError(
        `This build has no log "${source}". Its logs: ${listNames([...lengths.keys()])}.`,
      );
    if (lineEnd > length)
      throw createInvalidError(
        `${source} has ${length} ${length === 1 ? 'line' : 'lines'}; there is no line ${lineEnd}.`,
      );
  }
}

function listNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function refuseCorrectedFields(input: DecisionInput): void {
  const given = (['category', 'kind', 'rootCause', 'fixRecommendation', 'shownBy'] as const).filter(
    (field) => input[field] !== undefined,
  );
  if (given.length > 0)
    throw createInvalidError(
      `${input.type} does not accept ${given.join(', ')}; use "correct" to change the answer.`,
    );
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

function createInvalidError(message: string): TriageError {
  return new TriageError('invalid-input', message);
}
