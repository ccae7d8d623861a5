/** Adds items to the end of a list. A call that spreads them instead overflows the stack at about 120,000. */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The largest of any number of numbers, and of `least`; -Infinity of none. */
export function maxOf(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let most = least;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

/** The smallest of any number of numbers, and of `most`; Infinity of none. */
export function minOf(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let least = most;
  for (const number of numbers) least = Math.min(least, number);
  return least;
}
