import { basename } from 'node:path';
import { openCalibrations } from '../../app/open-for-operators.ts';
import { type DataOptions, dataDirectory, operatorName, readStoreConfig } from '../../cli/settings.ts';
import { interruptSignal, jsonText, print, say, tell, writeOutput } from '../../cli/terminal.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import { resolveBudgetTokens } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import {
  type Calibration,
  calibratedAnalyst,
  isCalibratedAs,
  parseCalibration,
} from '../../domain/calibration.ts';
import { TriageError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { append, present } from '../../lib/collections.ts';
import { proportion } from '../../lib/statistics.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { visibleLine, visibleLines } from '../../notifications/visible-text.ts';
import type { CalibrationAct, CalibrationStore } from '../../stores/measurements.ts';
import {
  type CalibrateOptions,
  type FitRow,
  type FittedCalibration,
  fitCalibration,
  labelledCases,
  labelledDecisions,
  type Measured,
  reliability,
} from '../calibrate/calibrate.ts';
import { type FitMethod, type LabelledAnswer, OWN_FROM, POOLED_FROM } from '../calibrate/fit.ts';
import type { CategoryThreshold } from '../calibrate/threshold.ts';
import { casesAt } from '../cases/folder.ts';
import { type ReplayedCase, replay } from '../run/replay.ts';
import { type RunResults, readResults } from '../run/results.ts';
import { answering, replayConfig } from './answering.ts';
import { stripForMetrics } from './replay-source.ts';

/** The options of `faultline calibrate`, as commander parses them. */
export interface CalibrateCommandOptions extends DataOptions {
  readonly dataset?: readonly string[];
  readonly results?: readonly string[];
  readonly reviewed?: boolean;
  readonly analyst?: 'rules' | 'llm';
  readonly method: FitMethod;
  readonly risk?: number;
  readonly confidence: number;
  readonly concurrency: number;
  readonly out?: string;
  readonly apply?: boolean;
  readonly replaces?: number | 'none';
}

/** Answers whose truth is known, of one analyst. */
interface GatheredAnswers {
  readonly answers: readonly LabelledAnswer[];
  readonly analyst: string;
  readonly sources: readonly string[];
  /** Answers a day brings, by category; null where no store was asked. */
  readonly perDay: ReadonlyMap<string, number> | null;
}

/**
 * Runs `faultline calibrate`: fits, cross-validates, and prints a calibration. Writes and applies it only on
 * request.
 */
export async function runCalibrate(options: CalibrateCommandOptions, config: Config): Promise<void> {
  if ((options.dataset === undefined) === (options.reviewed !== true))
    throw new TriageError('invalid-config', 'Choose what to fit to: either --dataset FILE… or --reviewed.');
  if (options.apply) await refuseEarly(options, config);
  const gathered = options.reviewed
    ? await decidedAnswers(options, config)
    : await replayedAnswers(options, config);
  const risk = options.risk === undefined ? null : { most: options.risk, confidence: options.confidence };
  const { humanReview: doubted } = config.triage.thresholds;
  const fitted = fitCalibration(gathered.answers, {
    ...(await madeBy(gathered, config)),
    method: options.method,
    risk,
    doubted,
  });
  // What could not be read back must not be written.
  if (options.out !== undefined)
    await writeOutput(
      options.out,
      `${JSON.stringify(parseCalibration(fitted.calibration, options.out), null, 1)}\n`,
      '--out',
    );
  const applied = options.apply ? await apply(fitted.calibration, options) : null;
  const { held: _held, ...shown } = fitted;
  if (options.json)
    return print(
      jsonText({ ok: true, ...shown, calibration: applied ?? shown.calibration, applied: applied !== null }),
    );
  await print(renderCalibration(fitted, gathered));
  if (options.out !== undefined)
    say(`Written to ${options.out}. Apply it with: FAULTLINE_CALIBRATION=${options.out} faultline triage …`);
  if (applied !== null)
    say(`Version ${applied.version} is in force for ${applied.analyst}; workers follow within seconds.`);
  if (options.out === undefined && applied === null)
    say('Nothing was written or applied. Use --out FILE to write it, or --apply to put it in force.');
}

async function madeBy(
  { answers, analyst, sources }: GatheredAnswers,
  config: Config,
): Promise<Omit<CalibrateOptions, 'method' | 'risk'>> {
  const masker = createMasker(createMaskingOptions(config));
  const texts = [...new Set([...sources, ...answers.map(({ project }) => project)])];
  const masked = new Map<string, string>();
  for (const text of texts) masked.set(text, (await masker.mask(text)).text);
  const made = { createdBy: operatorName(), now: Date.now(), id: newId('cal'), version: 1 };
  return { ...made, analyst, sources, mask: (text) => masked.get(text) ?? '***' };
}

async function apply(calibration: Calibration, options: CalibrateCommandOptions): Promise<Calibration> {
  return await withCalibrations(options, async (calibrations) => {
    await checkReplaced(calibrations, calibration.analyst, options.replaces);
    const kept = await calibrations.add(calibration);
    await putInForce(calibrations, kept.analyst, kept.version, options.replaces);
    return kept;
  });
}

/** Rejects a request early if it would be refused after the replay, which may take hours and cost dollars. */
async function refuseEarly(options: CalibrateCommandOptions, config: Config): Promise<void> {
  await withCalibrations(options, (calibrations) =>
    checkReplaced(calibrations, resolveAnalyst(options, config), options.replaces),
  );
}

/** Returns the analyst whose answers are calibrated. */
function resolveAnalyst(options: CalibrateCommandOptions, { analyst }: Config): string {
  const driver = options.analyst ?? analyst.driver;
  return calibratedAnalyst(driver, driver === 'llm' ? analyst.llm.model : null);
}

const NEWEST_DECIDED = 20_000;

/** Gathers the answers to data sets: replayed now without a calibration, or read from a results file. */
async function replayedAnswers(options: CalibrateCommandOptions, config: Config): Promise<GatheredAnswers> {
  const paths = options.dataset ?? [];
  const cases: ReplayedCase[] = [];
  const files = await Promise.all((options.results ?? []).map(readResults));
  for (const path of paths)
    append(cases, files.length > 0 ? await fromResults(path, files) : await replayed(path, options, config));
  const analyst = resolveAnalyst(options, config);
  const answers = labelledCases(ofAnalyst(cases, analyst));
  const said = cases.length - answers.length;
  if (said > 0)
    say(
      `Left out ${said} of ${cases.length} cases, whose category is unknown or which ${analyst} did ` +
        'not answer.',
    );
  return { answers, analyst, sources: paths.map((path) => basename(path)), perDay: null };
}

/**
 * Keeps the cases that this analyst answered. If a model was unavailable, the rules answered, and their
 * answers say nothing about the model.
 */
function ofAnalyst(cases: readonly ReplayedCase[], analyst: string): ReplayedCase[] {
  const answered = cases.filter(({ result }) => result.analyst !== null);
  const own = answered.filter(({ result: { analyst: by, model } }) => {
    // A file of an earlier version does not name the model.
    return by === 'llm' && model === null
      ? analyst.startsWith('llm ')
      : isCalibratedAs(analyst, by ?? '', model);
  });
  if (own.length > 0 || answered.length === 0) return own;
  throw createNoAnswersError(
    analyst,
    answered.map(({ result }) => calibratedAnalyst(result.analyst ?? '', result.model)),
  );
}

function createNoAnswersError(analyst: string, others: readonly string[]): TriageError {
  const named = [...new Set(others)].slice(0, 5).map(visibleLine).join(', ');
  return new TriageError(
    'invalid-input',
    `There are no answers by ${analyst}, only by ${named}; set --analyst, or configure that model.`,
  );
}

/** Gathers the decisions of reviewers about the answers of one analyst. */
async function decidedAnswers(options: CalibrateCommandOptions, config: Config): Promise<GatheredAnswers> {
  const analyst = resolveAnalyst(options, config);
  return await withCalibrations(options, async (calibrations) => {
    const decided = await calibrations.decided(NEWEST_DECIDED);
    const own = decided.filter((one) => isCalibratedAs(analyst, one.analyst, one.model));
    if (own.length === 0 && decided.length > 0)
      throw createNoAnswersError(
        analyst,
        decided.map((one) => calibratedAnalyst(one.analyst, one.model)),
      );
    if (own.length === 0)
      throw new TriageError(
        'invalid-input',
        `No answer of ${analyst} has been reviewed yet, so there is nothing to calibrate with.`,
      );
    const audits = own.filter(({ origin }) => origin === 'audit').length;
    say(
      `${own.length} decided answers, ${audits} of them sampled from published ` +
        `answers${shareText(audits, config.review.auditEvery)}.`,
    );
    const perDay = new Map(
      (await calibrations.answeredPerDay()).map(({ category, perDay: count }) => [category, count]),
    );
    return {
      answers: labelledDecisions(own, config.review.auditEvery),
      analyst,
      sources: ['reviewed'],
      perDay,
    };
  });
}

function shareText(audits: number, every: number): string {
  if (audits === 0)
    return (
      ': they say nothing about confident answers, because only uncertain ones are reviewed (set ' +
      'FAULTLINE_AUDIT_EVERY to sample some)'
    );
  return every > 1 ? `, each of which represents ${every}` : '';
}

async function replayed(
  path: string,
  options: CalibrateCommandOptions,
  config: Config,
): Promise<ReplayedCase[]> {
  const { calibration: _applied, ...triage } = config.triage;
  const asked = {
    ...present({ analyst: options.analyst }),
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
  await replay(
    { ...shared, cases: await casesAt(path), budgetTokens: resolveBudgetTokens(own), answer, onCase },
    interruptSignal(),
  );
  return cases;
}

async function fromResults(path: string, files: readonly RunResults[]): Promise<ReplayedCase[]> {
  const cases: ReplayedCase[] = [];
  for await (const outcome of await casesAt(path)) {
    if ('error' in outcome) continue;
    const { row } = outcome.one;
    const [result, other] = files.flatMap(({ results }) => results.get(row.id) ?? []);
    if (other !== undefined)
      throw new TriageError(
        'invalid-input',
        `--results: the case ${visibleLine(row.id)} is in two of the files.`,
      );
    if (result !== undefined)
      cases.push(stripForMetrics({ row, result, analysis: null, quotes: { made: 0, literal: 0 } }));
  }
  return cases;
}

/** Formats the fitted calibration as tables for people. */
function renderCalibration(fitted: FittedCalibration, gathered: GatheredAnswers): string {
  const { calibration, rows, thresholds, held } = fitted;
  const { fittedOn, before, after } = calibration;
  const heading =
    `Calibration of ${calibration.analyst}, ${fittedOn.cases} cases from ${fittedOn.projectCount} ` +
    'projects';
  const lines = [
    heading,
    '='.repeat(heading.length),
    '',
    'category          cases  right  fit       ECE before  after *',
    ...rows.map(rowText),
    '',
    `ECE    before ${measured(before.ece)}   after * ${after === null ? 'not known' : measured(after.ece)}`,
    `Brier  before ${measured(before.brier)}   after ` +
      `* ${after === null ? 'not known' : measured(after.brier)}`,
    after === null
      ? '* All cases belong to one project, so none could be held out: ' +
        'the quality of the fit elsewhere is unknown.'
      : '* Cross-validated: fitted without the case’s project. Intervals are 95 %, by resampling projects.',
    ...notes(rows),
    '',
    'Reliability: stated → share right (cases)',
    `  before   ${reliabilityText(gathered.answers)}`,
    ...(held === null ? [] : [`  after *  ${reliabilityText(held)}`]),
    ...riskLines(fitted, thresholds, gathered),
  ];
  return visibleLines(lines.join('\n')).join('\n');
}

function rowText({ category, cases, right, method, eceBefore, eceAfter }: FitRow): string {
  const after = eceAfter === null || cases === 0 ? '    –' : eceAfter.toFixed(3);
  const before = cases === 0 ? '    –' : eceBefore.toFixed(3);
  return `${category.padEnd(16)}  ${`${cases}`.padStart(5)}  ${`${right}`.padStart(5)}  ${(method ?? '').padEnd(8)}  ${before.padStart(10)}  ${after.padStart(7)}`;
}

function measured({ value, low, high }: Measured): string {
  return `${value.toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
}

function notes(rows: readonly FitRow[]): string[] {
  return rows.flatMap(({ category, method, cases, worth }) => {
    const found =
      Math.floor(worth) === cases
        ? `${cases}`
        : `${cases}, equivalent to ${Math.floor(worth)} equally weighted cases,`;
    if (method === 'capped')
      return [
        `${category}: too few cases (${found} < ${POOLED_FROM}): ` +
          'the stated confidence stays, capped by what so few cases allow.',
      ];
    if (method === 'pooled')
      return [
        `${category}: too few cases (${found} < ${OWN_FROM}) for its own fit: ` +
          'the overall fit is used, never raising confidence.',
      ];
    return [];
  });
}

function reliabilityText(statements: Parameters<typeof reliability>[0]): string {
  return reliability(statements)
    .map(({ stated, right, cases }) => `${stated.toFixed(2)} → ${right.toFixed(2)} (${cases})`)
    .join('   ');
}

function riskLines(
  { calibration: { risk } }: FittedCalibration,
  thresholds: readonly CategoryThreshold[],
  gathered: GatheredAnswers,
): string[] {
  if (risk === null) return [];
  const known = thresholds.filter(({ cases }) => cases > 0);
  const all = known.reduce((sum, { cases }) => sum + cases, 0);
  const published = known.reduce((sum, one) => sum + one.published, 0);
  const wrong = known.reduce((sum, one) => sum + one.wrong, 0);
  const coverage = proportion(published, all);
  return [
    '',
    `Thresholds for at most ${percent(risk.most)} wrong among published answers, ` +
      `with ${percent(risk.confidence)} confidence per category`,
    'category          cases  from     published             wrong  at most  reviews of 100',
    ...thresholds.map((one) => thresholdText(one, gathered)),
    `In all: ${published} of ${all} published ` +
      `(${percent(coverage.share)}, ${percent(coverage.low)}–${percent(coverage.high)}), ${wrong} ` +
      `wrong; ${Math.round(100 * (1 - coverage.share))} of 100 answers go to review.`,
    'Clopper-Pearson bound; thresholds by Learn then Test (arXiv 2110.01052), per category.',
  ];
}

function thresholdText(
  { category, threshold, cases, published, wrong, upper, needed }: CategoryThreshold,
  { perDay }: GatheredAnswers,
): string {
  const head = `${category.padEnd(16)}  ${`${cases}`.padStart(5)}  `;
  const share = proportion(published, cases);
  const load = threshold === null ? 100 : Math.round(100 * (1 - share.share));
  const daily = perDay === null ? '' : `  ${((perDay.get(category) ?? 0) * (load / 100)).toFixed(1)} per day`;
  if (threshold === null)
    return (
      `${head}always reviewed: no threshold meets the risk (at least ${needed} cases without an error ` +
      `are needed)${daily}`
    );
  const covered = `${published} (${percent(share.share)}, ${percent(share.low)}–${percent(share.high)})`;
  return `${head}${threshold.toFixed(4)}   ${covered.padEnd(20)}  ${`${wrong}`.padStart(5)}  ${percent(upper ?? 1).padStart(7)}  ${`${load}`.padStart(7)}${daily}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export interface UseOptions extends DataOptions {
  readonly replaces?: number | 'none';
}

const SHOWN = 50;

export async function listCalibrations(options: DataOptions): Promise<void> {
  const { kept, inForce, acts } = await withCalibrations(options, async (calibrations) => ({
    kept: await calibrations.list(SHOWN),
    inForce: (await calibrations.inForce()).map(({ version }) => version),
    acts: await calibrations.acts(SHOWN),
  }));
  if (options.json) return print(jsonText({ ok: true, items: kept, inForce, acts }));
  if (kept.length === 0)
    return print('There are no calibrations. Create one with: faultline calibrate --reviewed');
  const rows = kept.map((one) => `${inForce.includes(one.version) ? '*' : ' '} ${formatCalibration(one)}`);
  return print([...rows, '', ...acts.map(actLine)].join('\n'));
}

export async function useCalibration(version: number, options: UseOptions): Promise<void> {
  const act = await withCalibrations(options, async (calibrations) => {
    const wanted = await calibrations.find(version);
    if (wanted === null)
      throw new TriageError(
        'not-found',
        `There is no calibration ${version}. List them with: faultline calibrate list`,
      );
    return await putInForce(calibrations, wanted.analyst, version, options.replaces);
  });
  return tell(options, { act }, actLine(act));
}

export async function endCalibration(analyst: string, options: UseOptions): Promise<void> {
  const act = await withCalibrations(options, async (calibrations) => {
    const inForce = (await calibrations.inForce()).map((one) => one.analyst);
    if (!inForce.includes(analyst)) {
      const others =
        inForce.length === 0 ? 'None is in force.' : `In force for: ${inForce.map(visibleLine).join(', ')}.`;
      throw new TriageError('not-found', `No calibration is in force for ${visibleLine(analyst)}. ${others}`);
    }
    return await putInForce(calibrations, analyst, null, options.replaces);
  });
  return tell(options, { act }, actLine(act));
}

/**
 * Throws `conflict` where it is not said, or not rightly, what would be replaced: before anything is kept,
 * and before a long fit.
 */
async function checkReplaced(
  calibrations: CalibrationStore,
  analyst: string,
  replaces: UseOptions['replaces'],
): Promise<void> {
  const now = (await calibrations.inForce()).find((one) => one.analyst === analyst)?.version ?? 'none';
  if (replaces === now) return;
  const said = replaces === undefined ? '' : `, not ${replaces}`;
  throw new TriageError(
    'conflict',
    `${now} is in force for ${analyst}${said}. Nothing was changed. To replace it, use --replaces ${now}`,
  );
}

/**
 * Throws `conflict` where it is not said, or not rightly, what is replaced; also where another was quicker.
 */
async function putInForce(
  calibrations: CalibrationStore,
  analyst: string,
  version: number | null,
  replaces: UseOptions['replaces'],
): Promise<CalibrationAct> {
  await checkReplaced(calibrations, analyst, replaces);
  const replaced = typeof replaces === 'number' ? replaces : null;
  const act = await calibrations.use({ analyst, version, replaces: replaced, actor: operatorName() });
  if (act !== null) return act;
  throw new TriageError(
    'conflict',
    `Someone else just changed the calibration for ${analyst}. See: faultline calibrate list`,
  );
}

async function withCalibrations<Result>(
  options: DataOptions,
  work: (store: CalibrationStore) => Promise<Result>,
): Promise<Result> {
  const opened = await openCalibrations(readStoreConfig(dataDirectory(options.data)));
  try {
    return await work(opened.calibrations);
  } finally {
    await opened.close();
  }
}

function formatCalibration({
  version,
  analyst,
  fittedOn,
  before,
  after,
  risk,
  createdBy,
  createdAt,
}: Calibration): string {
  const ece =
    after === null
      ? 'not cross-validated'
      : `ECE ${before.ece.value.toFixed(3)} → ${after.ece.value.toFixed(3)}`;
  const kept = risk === null ? 'no thresholds' : `at most ${risk.most * 100} % wrong`;
  const by = `by ${visibleLine(createdBy)} ${createdAt}`;
  return [`${version}`.padStart(4), visibleLine(analyst), `${fittedOn.cases} cases`, ece, kept, by].join(
    '  ',
  );
}

function actLine({ analyst, version, replaced, actor, at }: CalibrationAct): string {
  return `${at}  ${visibleLine(actor)}: ${visibleLine(analyst)} ${replaced ?? 'none'} → ${version ?? 'none'}`;
}
