import type { ConfidenceFactor } from '../../src/domain/analysis.ts';
import { type CalibrationInUse, calibratedAnalyst, isCalibratedAs } from '../../src/domain/calibration.ts';
import type { ActionDecision } from './decide-action.ts';
import type { TriageStateValue } from './state.ts';

/** The calibration of whoever wrote the answer, as the run began with it; null where none is in force. */
export function calibrationOf(state: Pick<TriageStateValue, 'limits' | 'steps' | 'model'>): CalibrationInUse | null {
  const writer = state.steps.findLast((step) => step.node === 'generate_answer');
  const model = writer?.judgements?.findLast((judgement) => judgement.model !== null)?.model ?? state.model;
  const by = writer?.by ?? 'rules';
  const { calibrations = [] } = state.limits;
  const exact = calibrations.find((one) => one.analyst === calibratedAnalyst(by, model));
  return exact ?? calibrations.find((one) => isCalibratedAs(one.analyst, by, model)) ?? null;
}

/** What the calibration added to the confidence, in logits, for those who explain it. */
export function calibrationFactors({ calibrated, confidence }: ActionDecision): ConfidenceFactor[] {
  if (calibrated === null) return [];
  const value = Math.round((logit(confidence) - logit(calibrated.raw)) * 1000) / 1000;
  const because = `calibration ${calibrated.version}: a stated confidence of ${calibrated.raw.toFixed(2)} counts as ${confidence.toFixed(2)}`;
  return [{ name: 'calibration', value, because }];
}

function logit(probability: number): number {
  const within = Math.min(0.999, Math.max(0.001, probability));
  return Math.log(within / (1 - within));
}
