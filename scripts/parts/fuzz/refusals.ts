import { TriageError, type TriageErrorCode } from '../../../src/domain/errors.ts';

/** Returns null if the work rejects its input with one of these codes. Other errors are thrown. */
export async function ignoreRefused<T>(
  codes: readonly TriageErrorCode[],
  work: () => T | Promise<T>,
): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TriageError && codes.includes(error.code)) return null;
    throw error;
  }
}
