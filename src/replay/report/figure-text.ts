import type { Figure } from '../figures/figure.ts';

/** The value as people read it: "0.917", "12", "3.4", "$0.0123". */
export function valueText({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  if (unit === 'count') return String(value);
  if (unit === 'dollars') return `$${value.toFixed(4)}`;
  return value.toFixed(unit === 'measure' ? 1 : 3);
}

/** The 95 % interval, "(0.87–0.95)"; empty where there is none. */
export function intervalText({ interval, unit }: Figure): string {
  if (interval === undefined) return '';
  const ends = interval.map((end) => (unit === 'dollars' ? `$${end.toFixed(4)}` : end.toFixed(unit === undefined ? 2 : 1)));
  return `(${ends.join('–')})`;
}
