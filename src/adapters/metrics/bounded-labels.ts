import type { LabelValues } from '../../ports/telemetry.ts';

/** Longest value of a label; names of tools, routes and models are shorter. */
const MAX_TEXT = 80;
const OTHER = 'other';

/** Values of one label, of which there are never more than its outline allows, and "other". */
function boundValues(allowed: LabelValues): (value: string) => string {
  if (typeof allowed !== 'number') {
    const known = new Set(allowed);
    return (value) => (known.has(value) ? value : OTHER);
  }
  const seen = new Set<string>();
  return (value) => {
    const short = value.slice(0, MAX_TEXT);
    if (seen.has(short)) return short;
    if (seen.size >= allowed) return OTHER;
    seen.add(short);
    return short;
  };
}

/** The same for all labels of one metric; what is missing is "other". */
export function boundLabels(labels: Readonly<Record<string, LabelValues>>) {
  const bounds = Object.entries(labels).map(([name, allowed]) => [name, boundValues(allowed)] as const);
  return (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(bounds.map(([name, bound]) => [name, bound(given[name] ?? OTHER)]));
}
