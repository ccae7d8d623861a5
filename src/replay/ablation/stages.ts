import { AblationStage, type Design, ReadStage } from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';

/** What each stage is, for people: what is missing where it is left out. */
export const STAGE_TEXTS: Readonly<Record<AblationStage, string>> = {
  library: 'no earlier failures decided by people',
  knowledge: 'no curated documents',
  'code-host': 'no repository: no code, commits or blame',
  history: 'no earlier builds',
  logs: 'no second look into the logs',
  web: 'no web search',
  tools: 'no tool at all: straight from reading the log to the answer',
  loop: 'one round of questions instead of a loop',
  corrections: 'verify never sends an answer back',
  green: 'no comparison with a green build',
  sections: 'no reduction to the failed step',
  extractors: 'no tool-specific readers, only the generic one',
  ranking: 'only the readers’ weights choose the lines',
  reducer: 'the last lines of the log that fit the budget, nothing else',
};

/** The stages by their names. Throws `invalid-input` that names them all where one is unknown. */
export function parseStages(names: readonly string[]): AblationStage[] {
  const unknown = names.find((name) => !AblationStage.safeParse(name).success);
  if (unknown !== undefined) {
    throw new TriageError('invalid-input', `--without: there is no stage "${unknown}"; choose from ${AblationStage.options.join(', ')}.`);
  }
  return AblationStage.options.filter((stage) => names.includes(stage));
}

/** Those of the log's reader. */
export function readStagesOf(stages: readonly AblationStage[]): ReadonlySet<ReadStage> {
  return new Set(stages.flatMap((stage) => ReadStage.safeParse(stage).data ?? []));
}

/** What of the system was measured, for headings: ", without library and web, linear baseline"; empty for the whole system. */
export function describeExperiment(stages: readonly AblationStage[], design: Design): string {
  const without = stages.length === 0 ? '' : `, without ${stages.join(' and ')}`;
  return `${without}${design === 'linear' ? ', linear baseline' : ''}`;
}
