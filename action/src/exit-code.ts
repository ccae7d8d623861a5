/** How the step's own process ends where `fail-on` asks the job to fail; any other code but 0 means that it broke. */
export const FAILED_AS_ASKED = 100;
