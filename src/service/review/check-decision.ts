import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import type { DecisionInput, ShownBy } from '../../domain/review.ts';
import type { ArchivedSource } from '../../ports/build-archive.ts';

/**
 * Throws `invalid-input` if a decision cannot be stored: a rejection has no reason; a correction has no
 * category, changes nothing, or names evidence that the analysis does not have; or an acceptance contains
 * other words.
 */
export function checkDecision(input: DecisionInput, analysis: Analysis): void {
  if (input.type === 'reject' && input.reasonCode === undefined && isBlank(input.reason))
    throw createInvalidError('A rejection needs a reason: describe what is wrong with the answer.');
  if (input.type !== 'reject' && input.reasonCode !== undefined)
    throw createInvalidError(`A reason code can only be used with reject, not with ${input.type}.`);
  if (input.type === 'correct') checkCorrection(input, analysis);
  else refuseOtherWords(input);
}

function checkCorrection(input: DecisionInput, analysis: Analysis): void {
  if (input.category === undefined)
    throw createInvalidError('A correction needs a category, even if the category was right.');
  for (const field of ['rootCause', 'fixRecommendation'] as const) {
    if (input[field] !== undefined && isBlank(input[field]))
      throw createInvalidError(`The corrected ${field} is blank; leave it out to keep Faultline's.`);
  }
  if (input.shownBy !== undefined && input.shownBy !== 'none') checkShownBy(input.shownBy, analysis);
  if (!changes(input, analysis)) {
    throw createInvalidError(
      'This correction changes nothing: give another category, kind, root cause or fix, or accept ' +
        'the answer as it is.',
    );
  }
}

/** Checks whether a correction differs from the analysis. */
export function changes(input: DecisionInput, { category, kind, answer }: Analysis): boolean {
  return (
    input.category !== category ||
    (input.kind ?? kind) !== kind ||
    (input.rootCause ?? answer.rootCause).trim() !== answer.rootCause.trim() ||
    (input.fixRecommendation ?? answer.fixRecommendation).trim() !== answer.fixRecommendation.trim()
  );
}

function checkShownBy({ evidence, lines }: Exclude<ShownBy, 'none'>, analysis: Analysis): void {
  if (evidence.length + lines.length === 0)
    throw createInvalidError('Select the evidence or lines that show it, or state that no line shows it.');
  const known = new Set(analysis.evidence.map(({ id }) => id));
  const unknown = evidence.filter((id) => !known.has(id));
  if (unknown.length > 0) throw createInvalidError(`This analysis has no evidence ${unknown.join(', ')}.`);
  for (const { source, lineStart, lineEnd } of lines) {
    if (lineEnd < lineStart)
      throw createInvalidError(`The lines ${lineStart}-${lineEnd} of ${source} end before they begin.`);
  }
}

/**
 * Throws an error if the lines do not exist in the build. Texts that are no longer archived are not checked.
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
        `This build has no log "${source}". It has: ${[...lengths.keys()].slice(0, 10).join(', ')}.`,
      );
    if (lineEnd > length)
      throw createInvalidError(
        `${source} has ${length} ${length === 1 ? 'line' : 'lines'}; there is no line ${lineEnd}.`,
      );
  }
}

function refuseOtherWords(input: DecisionInput): void {
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
