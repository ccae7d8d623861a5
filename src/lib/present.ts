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
