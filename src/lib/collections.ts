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

/** Without its `undefined` fields: an absent filter and an undefined one are the same to a caller. */
export function present<Filter extends object>(filter: Filter): { [Key in keyof Filter]?: Exclude<Filter[Key], undefined> } {
  const given: { [Key in keyof Filter]?: Exclude<Filter[Key], undefined> } = {};
  for (const key in filter) {
    const value = filter[key];
    if (isGiven(value)) given[key] = value;
  }
  return given;
}

function isGiven<Value>(value: Value): value is Exclude<Value, undefined> {
  return value !== undefined;
}
