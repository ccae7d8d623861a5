import { basename } from 'node:path';
import { budgetTokensOf } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import { calibratedAnalyst, isCalibratedAs } from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/lists.ts';
import { visibleLine } from '../../publish/visible-text.ts';
import { labelledCases, labelledDecisions } from '../../replay/calibrate/calibrate.ts';
import { casesAt } from '../../replay/cases/folder.ts';
import { type ReplayedCase, replay } from '../../replay/run/replay.ts';
import { type RunResults, readResults } from '../../replay/run/results-file.ts';
import { interruptSignal, say } from '../terminal.ts';
import { answering, replayConfig } from './answering.ts';
import type { CalibrateCommandOptions, GatheredAnswers } from './calibrate-options.ts';
import { withCalibrations } from './calibrate-store.ts';
import { stripForMetrics } from './strip-for-metrics.ts';

const NEWEST_DECIDED = 20_000;

/** The answers to data sets: replayed now without a calibration, or as a results file has them. */
export async function replayedAnswers(options: CalibrateCommandOptions, config: Config): Promise<GatheredAnswers> {
  const paths = options.dataset ?? [];
  const driver = options.analyst ?? config.analyst.driver;
  const cases: ReplayedCase[] = [];
  const files = await Promise.all((options.results ?? []).map(readResults));
  for (const path of paths) append(cases, files.length > 0 ? await fromResults(path, files) : await replayed(path, options, config));
  const analyst = calibratedAnalyst(driver, driver === 'llm' ? config.analyst.llm.model : null);
  const answers = labelledCases(ofAnalyst(cases, analyst));
  const said = cases.length - answers.length;
  if (said > 0) say(`${said} of ${cases.length} cases are left out: their category is unknown, or ${analyst} did not answer them.`);
  return { answers, analyst, sources: paths.map((path) => basename(path)), perDay: null };
}

/** Those that this analyst answered: where a model is gone the rules answer, and their answers tell nothing of it. */
function ofAnalyst(cases: readonly ReplayedCase[], analyst: string): ReplayedCase[] {
  const answered = cases.filter(({ result }) => result.analyst !== null);
  const own = answered.filter(({ result: { analyst: by, model } }) => {
    // A file of an earlier version does not name the model.
    return by === 'llm' && model === null ? analyst.startsWith('llm ') : isCalibratedAs(analyst, by ?? '', model);
  });
  if (own.length > 0 || answered.length === 0) return own;
  throw noneOf(
    analyst,
    answered.map(({ result }) => calibratedAnalyst(result.analyst ?? '', result.model)),
  );
}

function noneOf(analyst: string, others: readonly string[]): TriageError {
  const named = [...new Set(others)].slice(0, 5).map(visibleLine).join(', ');
  return new TriageError('invalid-input', `There are no answers by ${analyst}, only by ${named}; set --analyst, or configure that model.`);
}

/** What people decided of the answers of one analyst. */
export async function decidedAnswers(options: CalibrateCommandOptions, config: Config): Promise<GatheredAnswers> {
  const driver = options.analyst ?? config.analyst.driver;
  const analyst = calibratedAnalyst(driver, driver === 'llm' ? config.analyst.llm.model : null);
  return await withCalibrations(options, async (calibrations) => {
    const decided = await calibrations.decided(NEWEST_DECIDED);
    const own = decided.filter((one) => isCalibratedAs(analyst, one.analyst, one.model));
    if (own.length === 0 && decided.length > 0)
      throw noneOf(
        analyst,
        decided.map((one) => calibratedAnalyst(one.analyst, one.model)),
      );
    if (own.length === 0)
      throw new TriageError('invalid-input', `No answer of ${analyst} has been reviewed yet, so there is nothing to calibrate with.`);
    const audits = own.filter(({ origin }) => origin === 'audit').length;
    say(`${own.length} decided answers, ${audits} of them sampled from published answers${shareText(audits, config.review.auditEvery)}.`);
    const perDay = new Map((await calibrations.answeredPerDay()).map(({ category, perDay: count }) => [category, count]));
    return { answers: labelledDecisions(own, config.review.auditEvery), analyst, sources: ['reviewed'], perDay };
  });
}

function shareText(audits: number, every: number): string {
  if (audits === 0)
    return ': they say nothing about confident answers, because only uncertain ones are reviewed (set FAULTLINE_AUDIT_EVERY to sample some)';
  return every > 1 ? `, each of which represents ${every}` : '';
}

async function replayed(path: string, options: CalibrateCommandOptions, config: Config): Promise<ReplayedCase[]> {
  const { calibration: _applied, ...triage } = config.triage;
  const asked = {
    ...(options.analyst === undefined ? {} : { analyst: options.analyst }),
    repeat: 1,
    concurrency: options.concurrency,
    green: true,
  };
  const own = replayConfig(asked, { ...config, triage });
  const cases: ReplayedCase[] = [];
  const shared = { concurrency: options.concurrency, green: true, maxLogBytes: config.http.maxLogBytes };
  const onCase = (done: ReplayedCase) => {
    cases.push(stripForMetrics(done));
    if (done.result.error !== null) say(`${done.result.id}: ${done.result.error}`);
  };
  const answer = await answering(asked, own);
  await replay({ ...shared, cases: await casesAt(path), budgetTokens: budgetTokensOf(own), answer, onCase }, interruptSignal());
  return cases;
}

async function fromResults(path: string, files: readonly RunResults[]): Promise<ReplayedCase[]> {
  const cases: ReplayedCase[] = [];
  for await (const outcome of await casesAt(path)) {
    if ('error' in outcome) continue;
    const { row } = outcome.one;
    const [result, other] = files.flatMap(({ results }) => results.get(row.id) ?? []);
    if (other !== undefined) throw new TriageError('invalid-input', `--results: the case ${visibleLine(row.id)} is in two of the files.`);
    if (result !== undefined) cases.push(stripForMetrics({ row, result, analysis: null, quotes: { made: 0, literal: 0 } }));
  }
  return cases;
}
