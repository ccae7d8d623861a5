import type { Figure } from './figures/figure.ts';

/** A table for people: name, value, and the number of cases that the value rests on. */
export function renderFigures(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map((figure) => figure.name.length));
  return figures.map(({ name, value, cases }) => `${name.padEnd(width)}  ${valueText(name, value).padStart(8)}  n=${cases}`).join('\n');
}

function valueText(name: string, value: number): string {
  return name.startsWith('cases') ? String(value) : value.toFixed(3);
}
