import type { Config } from '../../config/schema.ts';
import { renderReplayReport } from '../../console/replay-report/page.ts';
import type { ReportFigure, ReportSection, ReportSet, ReportStated } from '../../console/replay-report/report.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { type StatedBy, statementsOf } from '../../replay/figures/calibration.ts';
import { type Figure, type FigureSection, judgedCases } from '../../replay/figures/figure.ts';
import { intervalText, isNotable, valueText } from '../../replay/report/table.ts';
import type { ReplayedCase } from '../../replay/run/replay.ts';
import { VERSION } from '../version.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import { reportCases } from './report-cases.ts';
import type { ReportedRun } from './reported-run.ts';
import { settingsOf } from './run-manifest.ts';

/** The confusion matrix is here a part of its own, with links. */
const DRAWN = /^category, whole matrix/;
const NOTHING = 'nothing';

/** Everything that was replayed as one page that needs nothing else; `further` are sections of the whole run. */
export async function reportPage(
  reported: readonly ReportedRun[],
  options: ReplayCommandOptions,
  config: Config,
  further: readonly FigureSection[] = [],
): Promise<string> {
  const cases = await reportCases(reported, config);
  const settings = Object.entries(settingsOf(options, config)).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as const],
  );
  const sets = reported.map((one, at) => ({ ...setOf(one, config), cases: cases[at] ?? [] }));
  return renderReplayReport({ version: VERSION, madeAt: new Date().toISOString(), settings, sets, further: further.map(sectionOf) });
}

function setOf({ heading, run, sections, repeat }: ReportedRun, config: Config): Omit<ReportSet, 'cases'> {
  const threshold = config.triage.thresholds.autoNotify;
  const stated = [
    statedOf('category’s probability', run.cases, 'classification', threshold),
    statedOf('answer’s probability', run.cases, 'answer', threshold),
  ];
  return {
    name: repeat === 1 ? run.source.name : `${run.source.name}, repeat ${repeat}`,
    heading,
    stopped: run.stopped,
    sections: sections.filter(({ title }) => !DRAWN.test(title)).map(sectionOf),
    stated: stated.filter(({ judged }) => judged.length > 0),
    confusion: confusionOf(run.cases),
  };
}

/** By hundredths, rounded down, as the console's charts count them. */
function statedOf(name: string, cases: readonly ReplayedCase[], by: StatedBy, threshold: number): ReportStated {
  const groups = Map.groupBy(statementsOf(cases, by), ({ stated, right }) => `${Math.floor(stated * 100 + 1e-9)} ${right}`);
  const judged = [...groups.values()].map((group) => ({
    at: Math.floor((group[0]?.stated ?? 0) * 100 + 1e-9) / 100,
    right: group[0]?.right === true,
    count: group.length,
  }));
  return { name, judged, threshold };
}

function confusionOf(cases: readonly ReplayedCase[]): ReportSet['confusion'] {
  const judged = judgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  const truths = CATEGORIES.filter((category) => judged.some(({ truth }) => truth === category));
  const silent = judged.some(({ said }) => said === null);
  const saids: readonly string[] = silent ? [...CATEGORIES, NOTHING] : CATEGORIES;
  return truths.flatMap((truth) =>
    saids.map((said) => ({
      truth,
      said,
      ids: judged.filter((entry) => entry.truth === truth && (entry.said ?? NOTHING) === said).map(({ one }) => one.result.id),
    })),
  );
}

function sectionOf({ title, figures }: FigureSection): ReportSection {
  return { title, figures: figures.map(figureOf) };
}

function figureOf(figure: Figure): ReportFigure {
  return {
    name: figure.name,
    value: valueText(figure),
    interval: intervalText(figure),
    cases: figure.cases,
    share: figure.unit === undefined ? figure.value : null,
    cell: figure.cell ?? null,
    against: figure.against ?? [],
    isNotable: isNotable(figure),
    isJudged: figure.judged === true,
  };
}
