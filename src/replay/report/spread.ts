import { maxOf, minOf } from '../../lib/lists.ts';
import { type Figure, type FigureSection, mean } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { valueText } from './figure-text.ts';
import { onOneLine } from './table.ts';

/** Cases that are named in a line. */
const NAMED = 8;

/** A figure over repeats of the same cases. */
export interface Spread {
  readonly name: string;
  readonly unit: Figure['unit'];
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly repeats: number;
}

/** Every figure that all repeats have and that is not the same in all, in their order; grids are left out. */
export function spreadOf(repeats: readonly (readonly FigureSection[])[]): Spread[] {
  const [first = [], ...others] = repeats.map((sections) =>
    sections.flatMap(({ figures }) => figures.filter(({ cell }) => cell === undefined)),
  );
  return first.flatMap((figure) => {
    const values = [figure, ...others.flatMap((figures) => figures.find(({ name }) => name === figure.name) ?? [])].map(
      ({ value }) => value,
    );
    const [low, high] = [minOf(values), maxOf(values)];
    if (values.length < repeats.length || low === high) return [];
    return [{ name: figure.name, unit: figure.unit, mean: mean(values), low, high, repeats: values.length }];
  });
}

/** Ids of the cases that repeats put into different categories, and how many cases all of them answered. */
export function unsteadyCases(repeats: readonly (readonly ReplayedCase[])[]): { readonly ids: readonly string[]; readonly cases: number } {
  const said = new Map<string, (string | null)[]>();
  for (const cases of repeats) {
    for (const { result } of cases) {
      const known = said.get(result.id);
      if (known === undefined) said.set(result.id, [result.category]);
      else known.push(result.category);
    }
  }
  const all = [...said].filter(([, categories]) => categories.length >= repeats.length);
  return { ids: all.filter(([, categories]) => new Set(categories).size > 1).map(([id]) => id), cases: all.length };
}

/** A table of the figures that differ between repeats, and the cases that are not always put into the same category. */
export function renderSpread(heading: string, spreads: readonly Spread[], unsteady: ReturnType<typeof unsteadyCases>): string {
  const width = maxOf(
    spreads.map(({ name }) => name.length),
    0,
  );
  const rows = spreads.map(({ name, unit, mean, low, high, repeats }) => {
    const text = (value: number) => valueText({ value, ...(unit === undefined ? {} : { unit }) });
    return `  ${name.padEnd(width)}  ${text(mean).padStart(10)}  n=${repeats}  from ${text(low)} to ${text(high)}`;
  });
  const same = unsteady.cases - unsteady.ids.length;
  const share = `${same} of ${unsteady.cases} cases are put into the same category each time`;
  const others =
    unsteady.ids.length === 0
      ? ''
      : `; not ${unsteady.ids.slice(0, NAMED).map(onOneLine).join(', ')}${unsteady.ids.length > NAMED ? ' …' : ''}`;
  return [heading, '='.repeat(heading.length), '', ...rows, `  ${share}${others}`].join('\n');
}
