/** Runs and answers that are still being made. */
export function startLive() {}
