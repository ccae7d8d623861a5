import type { Figure, FigureSection } from '../figures/figure.ts';

/** A figure as `--json` writes it; intervals and the cases against it only where there are such. */
export interface FigureJson {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly cases: number;
  readonly interval?: readonly [low: number, high: number];
  readonly against?: readonly string[];
  /** True where a language model said it. */
  readonly judged?: true;
}

/** The figures flat, each with the section it is read in. */
export function figuresJson(sections: readonly FigureSection[]): FigureJson[] {
  return sections.flatMap(({ title, figures }) => figures.map((figure) => figureJson(title, figure)));
}

function figureJson(section: string, { name, value, cases, interval, against, judged }: Figure): FigureJson {
  return {
    section,
    name,
    value,
    cases,
    ...(interval === undefined ? {} : { interval }),
    ...(against === undefined ? {} : { against }),
    ...(judged === undefined ? {} : { judged }),
  };
}
