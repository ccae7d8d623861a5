/** 0.032 → "3.2 points": a hundredth of a share. */
export function points(value: number): string {
  const text = (value * 100).toFixed(1);
  return `${text} ${text === '1.0' ? 'point' : 'points'}`;
}

/** 0.9135 → "91.4 %". */
export function shareOf(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

/** Two digits that say something; "< 0.001" below. */
export function probability(value: number): string {
  if (value < 0.001) return '< 0.001';
  return value < 0.01 ? value.toFixed(3) : value.toFixed(2);
}

/** Dollars with as many places as a case needs. */
export function dollars(value: number): string {
  const sign = value < 0 ? '−' : '';
  const size = Math.abs(value);
  return `${sign}$${size >= 1 || size === 0 ? size.toFixed(2) : size.toFixed(size >= 0.01 ? 3 : 5)}`;
}

/** 1 → "1 case", 12345 → "12,345 cases". */
export function amount(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
