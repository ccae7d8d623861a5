/** The log viewer. */
export function startLog() {}
