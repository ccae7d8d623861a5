/** The queue and its items: rows, evidence, and what is armed. */
export function startReview() {}
