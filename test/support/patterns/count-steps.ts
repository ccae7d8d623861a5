import { type AST, RegExpParser } from '@eslint-community/regexpp';

type Next = (at: number) => boolean;

/**
 * Counts the characters that a plain backtracking engine reads while it searches for a pattern from every
 * position of a text, until a match or until `limit`. It supports characters, classes, groups, repeats and
 * the edges of the text, which is enough to test judgments of patterns.
 */
export function countSteps(source: string, text: string, limit: number): number {
  const pattern = new RegExpParser().parsePattern(source);
  let steps = 0;
  const known = new Map<string, boolean>();
  const matches = (raw: string, char: string) => {
    const found = known.get(raw + char) ?? new RegExp(`^(?:${raw})$`).test(char);
    known.set(raw + char, found);
    return found;
  };
  const either = (alternatives: readonly AST.Alternative[], at: number, next: Next): boolean =>
    alternatives.some(({ elements }) => all(elements, 0, at, next));
  const all = (elements: readonly AST.Element[], index: number, at: number, next: Next): boolean => {
    const element = elements[index];
    return element === undefined
      ? next(at)
      : one(element, at, (after) => all(elements, index + 1, after, next));
  };
  const one = (node: AST.Element, at: number, next: Next): boolean => {
    if (node.type === 'Group' || node.type === 'CapturingGroup') return either(node.alternatives, at, next);
    if (node.type === 'Quantifier') return repeat(node, 0, at, next);
    if (node.type === 'Assertion') return (node.kind === 'start' ? at === 0 : at === text.length) && next(at);
    if (++steps > limit) return true;
    return at < text.length && matches(node.raw, text.charAt(at)) && next(at + 1);
  };
  const repeat = (node: AST.Quantifier, round: number, at: number, next: Next): boolean => {
    const again = () =>
      round < node.max &&
      one(
        node.element,
        at,
        (after) => (after > at || round < node.min) && repeat(node, round + 1, after, next),
      );
    if (round < node.min) return again();
    return node.greedy ? again() || next(at) : next(at) || again();
  };
  for (let start = 0; start <= text.length; start++)
    if (either(pattern.alternatives, start, () => true)) break;
  return Math.min(steps, limit);
}
