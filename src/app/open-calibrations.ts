import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/time.ts';
import type { CalibrationStore } from '../ports/measurements.ts';
import { createStores } from '../store/stores.ts';
import { openDatabase } from './open-adapters.ts';

/** The calibrations of a database, which is opened for them alone: neither queue nor archive need to be there. */
export async function openCalibrations(config: Config): Promise<{ readonly calibrations: CalibrationStore; close(): Promise<void> }> {
  const { database } = await openDatabase(config);
  try {
    await database.migrate();
    return { calibrations: createStores(database, systemClock).calibrations, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}
