import type { ReplayedCase } from '../run/replay.ts';
import { meanFigure } from './clusters.ts';
import { caseShare, type Figure } from './figure.ts';

/** Whether the step that turned the job red is among those named as failed, and how it ended. Empty where no case names a step or an exit code. */
export function scoreSteps(cases: readonly ReplayedCase[]): Figure[] {
  const named = cases.flatMap((one) => (one.row?.step == null ? [] : [{ one }]));
  const ended = cases.flatMap((one) => (one.row?.exit_code == null ? [] : [{ one, code: one.row.exit_code }]));
  const failed = ({ one }: { readonly one: ReplayedCase }) => one.result.failedSections.filter(({ consequence }) => !consequence);
  return [
    ...(named.length === 0
      ? []
      : [
          caseShare('failing step found', named, ({ one }) => one.result.stepFound === true),
          meanFigure('failed steps named, a case', named, (entry) => failed(entry).length),
        ]),
    ...(ended.length === 0
      ? []
      : [caseShare("failing step's exit code", ended, (entry) => failed(entry).some(({ exitCode }) => exitCode === entry.code))]),
  ];
}
