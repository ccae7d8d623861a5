export function sorted(seats) {
  return [...seats].sort();
}
