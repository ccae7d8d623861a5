/**
 * The exit code of the step's own process if `fail-on` makes the job fail. Any other code except 0 means that
 * the step broke.
 */
export const FAILED_AS_ASKED = 100;
