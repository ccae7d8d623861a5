import { openCalibrations } from '../../app/open-for-operators.ts';
import { type DataOptions, getDataDirectory, getOperatorName, readStoreConfig } from '../../cli/settings.ts';
import { formatJson, print, printResult } from '../../cli/terminal.ts';
import type { Calibration } from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { CalibrationAct, CalibrationStore } from '../../stores/measurements.ts';

export interface UseOptions extends DataOptions {
  readonly replaces?: number | 'none';
}

const SHOWN = 50;

export async function listCalibrations(options: DataOptions): Promise<void> {
  const { kept, inForce, acts } = await withCalibrations(options, async (calibrations) => ({
    kept: await calibrations.list(SHOWN),
    inForce: (await calibrations.inForce()).map(({ version }) => version),
    acts: await calibrations.acts(SHOWN),
  }));
  if (options.json) return print(formatJson({ ok: true, items: kept, inForce, acts }));
  if (kept.length === 0)
    return print('There are no calibrations. Create one with: faultline calibrate --reviewed');
  const rows = kept.map(
    (calibration) => `${inForce.includes(calibration.version) ? '*' : ' '} ${formatCalibration(calibration)}`,
  );
  return print([...rows, '', ...acts.map(actLine)].join('\n'));
}

export async function useCalibration(version: number, options: UseOptions): Promise<void> {
  const act = await withCalibrations(options, async (calibrations) => {
    const wanted = await calibrations.find(version);
    if (wanted === null)
      throw new TriageError(
        'not-found',
        `There is no calibration ${version}. List them with: faultline calibrate list`,
      );
    return await putInForce(calibrations, wanted.analyst, version, options.replaces);
  });
  return printResult(options, { act }, actLine(act));
}

export async function endCalibration(analyst: string, options: UseOptions): Promise<void> {
  const act = await withCalibrations(options, async (calibrations) => {
    const inForce = (await calibrations.inForce()).map((calibration) => calibration.analyst);
    if (!inForce.includes(analyst)) {
      const others =
        inForce.length === 0
          ? 'None is in force.'
          : `In force for: ${inForce.map(toVisibleLine).join(', ')}.`;
      throw new TriageError(
        'not-found',
        `No calibration is in force for ${toVisibleLine(analyst)}. ${others}`,
      );
    }
    return await putInForce(calibrations, analyst, null, options.replaces);
  });
  return printResult(options, { act }, actLine(act));
}

/**
 * Checks that `replaces` is the calibration in force. Throws `conflict` if not. Called before anything is
 * stored and before a long fit.
 */
export async function checkReplaced(
  calibrations: CalibrationStore,
  analyst: string,
  replaces: UseOptions['replaces'],
): Promise<void> {
  const now =
    (await calibrations.inForce()).find((calibration) => calibration.analyst === analyst)?.version ?? 'none';
  if (replaces === now) return;
  const suffix = replaces === undefined ? '' : `, not ${replaces}`;
  throw new TriageError(
    'conflict',
    `${now} is in force for ${analyst}${suffix}. Nothing was changed. To replace it, use --replaces ${now}`,
  );
}

/**
 * Puts a calibration in force. Throws `conflict` if `replaces` is missing or wrong, or if another change came
 * first.
 */
export async function putInForce(
  calibrations: CalibrationStore,
  analyst: string,
  version: number | null,
  replaces: UseOptions['replaces'],
): Promise<CalibrationAct> {
  await checkReplaced(calibrations, analyst, replaces);
  const replaced = typeof replaces === 'number' ? replaces : null;
  const act = await calibrations.use({ analyst, version, replaces: replaced, actor: getOperatorName() });
  if (act !== null) return act;
  throw new TriageError(
    'conflict',
    `Someone else just changed the calibration for ${analyst}. See: faultline calibrate list`,
  );
}

export async function withCalibrations<Result>(
  options: DataOptions,
  work: (store: CalibrationStore) => Promise<Result>,
): Promise<Result> {
  const opened = await openCalibrations(readStoreConfig(getDataDirectory(options.data)));
  try {
    return await work(opened.calibrations);
  } finally {
    await opened.close();
  }
}

function formatCalibration({
  version,
  analyst,
  fittedOn,
  before,
  after,
  risk,
  createdBy,
  createdAt,
}: Calibration): string {
  const ece =
    after === null
      ? 'not cross-validated'
      : `ECE ${before.ece.value.toFixed(3)} → ${after.ece.value.toFixed(3)}`;
  const kept = risk === null ? 'no thresholds' : `at most ${risk.most * 100} % wrong`;
  const by = `by ${toVisibleLine(createdBy)} ${createdAt}`;
  return [`${version}`.padStart(4), toVisibleLine(analyst), `${fittedOn.cases} cases`, ece, kept, by].join(
    '  ',
  );
}

function actLine({ analyst, version, replaced, actor, at }: CalibrationAct): string {
  const change = `${replaced ?? 'none'} → ${version ?? 'none'}`;
  return `${at}  ${toVisibleLine(actor)}: ${toVisibleLine(analyst)} ${change}`;
}
