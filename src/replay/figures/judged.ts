import type { ReplayedCase } from '../run/replay.ts';

/** A case whose category is known, beside what was said of it. */
export interface Judged {
  /** The label; where an accepted alternative was said, that alternative. */
  readonly truth: string;
  readonly said: string | null;
  /** The label and the alternatives that its source accepts. */
  readonly accepted: readonly string[];
  readonly one: ReplayedCase;
}

/** The cases with a category label; a case that failed said nothing, which is wrong. */
export function judgedCases(cases: readonly ReplayedCase[]): Judged[] {
  return cases.flatMap((one) => {
    const category = one.row?.category ?? null;
    if (category === null) return [];
    const said = one.result.category;
    const accepted: readonly string[] = [category, one.row?.also_ok ?? [], one.row?.category_alternatives ?? []].flat();
    return [{ truth: said !== null && accepted.includes(said) ? said : category, said, accepted, one }];
  });
}

/** Whether the label or an accepted alternative was said. */
export function isRight({ truth, said }: Judged): boolean {
  return truth === said;
}
