/**
 * True if tests that could try thousands of cases try all of them, as in `scripts/test --all`. Otherwise they
 * try some of each kind.
 */
export const THOROUGH = process.env.FAULTLINE_TEST_THOROUGH === '1';

/** Returns the number of runs of a property: `often` in a thorough run, and a fifth of it in a short one. */
export const runs = (often: number): number => (THOROUGH ? often : Math.ceil(often / 5));
