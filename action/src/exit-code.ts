/**
 * Exit code of the step's own process if `fail-on` asks the job to fail. Any other code except 0 means that
 * the step broke.
 */
export const FAILED_AS_ASKED = 100;
