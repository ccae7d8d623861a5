import type { Figure } from '../figures/figure.ts';

/** What is worth a look: the figure's name, and from which value on, in which direction. Bars of a gate are stricter and are not these. */
const NOTABLE: readonly { readonly name: RegExp; readonly above?: number; readonly below?: number }[] = [
  { name: /^cases that failed$/, above: 0 },
  // The worst mistake there is: a real failure called somebody else's.
  { name: /^code and test failures called INFRA_ERROR$/, above: 0 },
  { name: /^real failures called /, above: 0 },
  { name: /^confident errors$/, above: 0.02 },
  { name: /^expected calibration error/, above: 0.05 },
  { name: /^quotations literally in the log$/, below: 1 },
  { name: /^category macro-F1$/, below: 0.75 },
  { name: /^category F1 /, below: 0.6 },
];

/** Whether somebody should look at a figure, and begin with the cases against it. What a model judged is never marked. */
export function isNotable({ name, value, cases, judged }: Figure): boolean {
  if (cases === 0 || judged === true) return false;
  return NOTABLE.some(
    (rule) =>
      rule.name.test(name) && (value > (rule.above ?? Number.POSITIVE_INFINITY) || value < (rule.below ?? Number.NEGATIVE_INFINITY)),
  );
}
