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

/** A failure of code or test that no label calls flaky or allows to be called infrastructure: to excuse it is the worst mistake. */
export function isRealFailure({ truth, accepted, one }: Judged): boolean {
  const real = truth === 'CODE_ERROR' || truth === 'TEST_FAILURE';
  return real && !accepted.includes('INFRA_ERROR') && one.row?.kind !== 'flaky_timing';
}

/** Whether the answer says "not your fault". */
export function isExcused({ said, one }: Judged): boolean {
  return said === 'INFRA_ERROR' || one.result.kind === 'flaky_timing';
}
