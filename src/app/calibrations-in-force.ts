import type { Config } from '../config/schema.ts';
import { CalibrationInUse, parseCalibration } from '../domain/calibration.ts';
import type { Clock } from '../lib/time.ts';
import type { CalibrationStore } from '../ports/measurements.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { InvestigateDeps } from '../triage/investigate.ts';

/** A worker follows a new version within so many milliseconds. */
const KEPT_MS = 10_000;

/** What a run needs of a calibration, and no more: it is kept in the run's state. */
function inUse(calibration: CalibrationInUse): CalibrationInUse {
  return CalibrationInUse.parse(calibration);
}

/** Reads which calibrations are in force, and remembers it for a moment. Where the database does not answer, those known last stay. */
export function calibrationsInForce(
  store: Pick<CalibrationStore, 'inForce'>,
  clock: Clock,
  logger: Logger,
): () => Promise<readonly CalibrationInUse[]> {
  let known: { readonly at: number; readonly calibrations: readonly CalibrationInUse[] } | null = null;
  return async () => {
    if (known !== null && clock.now() - known.at < KEPT_MS) return known.calibrations;
    try {
      known = { at: clock.now(), calibrations: (await store.inForce()).map(inUse) };
      return known.calibrations;
    } catch (error) {
      if (known === null) throw error;
      logger.warn({ error }, 'the calibrations in force were not read; those known before stay');
      return known.calibrations;
    }
  };
}

/** Of a process without a store: what the file says that the configuration names. Throws `invalid-config` where that is no calibration. */
export function calibrationAtHand({ triage }: Pick<Config, 'triage'>): Pick<InvestigateDeps, 'calibrations'> {
  if (triage.calibration === undefined) return {};
  const calibrations = [inUse(parseCalibration(triage.calibration, 'FAULTLINE_CALIBRATION'))];
  return { calibrations: async () => calibrations };
}
