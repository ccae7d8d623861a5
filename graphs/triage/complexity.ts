import type { Classification } from '../../src/domain/analysis.ts';
import { CATEGORIES } from '../../src/domain/category.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';

/** Two categories this close are both possible; the rules' own measure of a close runner-up. */
const CLOSE = 0.25;
const SEVERAL_CAUSES = 3;
const SEVERAL_TOOLCHAINS = 3;

/**
 * Why a failure is complex, for people; null where it is not. It is where no category could be named or two are nearly as
 * probable, and where two of these come together: several distinct errors, several toolchains, a trace without a frame of
 * our own. The thresholds are judgement.
 */
export function complexityOf(subject: TriageSubject, classification: Classification): string | null {
  if (classification.abstained) return 'too little evidence to name a category';
  const [first = 0, second = 0] = CATEGORIES.map((one) => classification.probabilities[one]).sort((left, right) => right - left);
  if (first - second < CLOSE) return 'two categories are almost equally likely';
  const signs = signsOf(subject);
  return signs.length >= 2 ? signs.join(', ') : null;
}

function signsOf({ exceptions, diagnostics, toolchains }: TriageSubject): string[] {
  const errors = new Set([
    ...exceptions.map((one) => one.type),
    ...diagnostics.filter((one) => one.severity === 'error').map((one) => `${one.tool} ${one.code ?? ''}`),
  ]);
  const signs: string[] = [];
  if (errors.size >= SEVERAL_CAUSES) signs.push(`${errors.size} different errors`);
  if (new Set(toolchains).size >= SEVERAL_TOOLCHAINS) signs.push(`${new Set(toolchains).size} toolchains`);
  if (exceptions.length > 0 && !exceptions.some((one) => one.frames.some((frame) => frame.own))) signs.push('no frame from the project');
  return signs;
}
