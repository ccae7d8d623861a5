import { basename } from 'node:path';
import { loadPrompt } from '../../../prompts/load.ts';
import { type DataOptions, getOperatorName } from '../../cli/settings.ts';
import { createInterruptSignal, formatJson, print, say, writeOutput } from '../../cli/terminal.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import { resolveBudgetTokens } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import {
  type Calibration,
  formatAnalystName,
  isAnsweredWith,
  isCalibratedAs,
  parseCalibration,
} from '../../domain/calibration.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { createId } from '../../domain/ids.ts';
import { append, omitUndefined } from '../../lib/collections.ts';
import { formatCount } from '../../lib/text.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import type { DecidedAnswer } from '../../stores/measurements.ts';
import {
  type CalibrateOptions,
  fitCalibration,
  listLabeledCases,
  listLabeledDecisions,
} from '../calibrate/calibrate.ts';
import type { FitMethod } from '../calibrate/fit.ts';
import { openCases } from '../cases/folder.ts';
import { type ReplayedCase, replay } from '../run/replay.ts';
import { type RunResults, readResults } from '../run/results-file.ts';
import { openAnswerer, replayConfig } from './answering.ts';
import { type GatheredAnswers, renderCalibration } from './calibration-text.ts';
import { checkReplaced, putInForce, withCalibrations } from './calibrations-command.ts';
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

/**
 * Runs `faultline calibrate`: fits, cross-validates, and prints a calibration. It is written and applied only
 * on request.
 */
export async function runCalibrate(options: CalibrateCommandOptions, config: Config): Promise<void> {
  if ((options.dataset === undefined) === (options.reviewed !== true))
    throw new TriageError('invalid-config', 'Choose what to fit to: either --dataset FILE… or --reviewed.');
  if (options.apply) await refuseEarly(options, config);
  const gathered = options.reviewed
    ? await gatherDecided(options, config)
    : await gatherReplayed(options, config);
  const risk = options.risk === undefined ? null : { most: options.risk, confidence: options.confidence };
  const { humanReview: doubted } = config.triage.thresholds;
  const fitted = fitCalibration(gathered.answers, {
    ...(await describeMaker(gathered, config)),
    method: options.method,
    risk,
    doubted,
  });
  // A calibration that could not be read again must not be written.
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
      formatJson({
        ok: true,
        ...shown,
        calibration: applied ?? shown.calibration,
        applied: applied !== null,
      }),
    );
  await print(renderCalibration(fitted, gathered));
  if (options.out !== undefined)
    say(`Written to ${options.out}. Apply it with: FAULTLINE_CALIBRATION=${options.out} faultline triage …`);
  if (applied !== null)
    say(`Version ${applied.version} is in force for ${applied.analyst}; workers follow within seconds.`);
  if (options.out === undefined && applied === null)
    say('Nothing was written or applied. Use --out FILE to write it, or --apply to put it in force.');
}

async function describeMaker(
  { answers, analyst, sources }: GatheredAnswers,
  config: Config,
): Promise<Omit<CalibrateOptions, 'method' | 'risk'>> {
  const masker = createMasker(createMaskingOptions(config));
  const texts = [...new Set([...sources, ...answers.map(({ project }) => project)])];
  const masked = new Map<string, string>();
  for (const text of texts) masked.set(text, (await masker.mask(text)).text);
  const made = { createdBy: getOperatorName(), now: Date.now(), id: createId('cal'), version: 1 };
  return {
    ...made,
    analyst,
    prompts: listPrompts(analyst),
    sources,
    mask: (text) => masked.get(text) ?? '***',
  };
}

async function apply(calibration: Calibration, options: CalibrateCommandOptions): Promise<Calibration> {
  return await withCalibrations(options, async (calibrations) => {
    await checkReplaced(calibrations, calibration.analyst, options.replaces);
    const kept = await calibrations.add(calibration);
    await putInForce(calibrations, kept.analyst, kept.version, options.replaces);
    return kept;
  });
}

/** Checks the request before the replay, which may take hours and cost dollars. */
async function refuseEarly(options: CalibrateCommandOptions, config: Config): Promise<void> {
  await withCalibrations(options, (calibrations) =>
    checkReplaced(calibrations, resolveAnalyst(options, config), options.replaces),
  );
}

/** Returns the analyst whose answers are calibrated. */
function resolveAnalyst(options: CalibrateCommandOptions, { analyst }: Config): string {
  const driver = options.analyst ?? analyst.driver;
  return formatAnalystName(driver, driver === 'llm' ? analyst.llm.model : null);
}

const NEWEST_DECIDED = 20_000;

/** Gathers the answers to data sets: replayed now without a calibration, or read from a results file. */
async function gatherReplayed(options: CalibrateCommandOptions, config: Config): Promise<GatheredAnswers> {
  const paths = options.dataset ?? [];
  const cases: ReplayedCase[] = [];
  const files = await Promise.all((options.results ?? []).map(readResults));
  for (const path of paths)
    append(
      cases,
      files.length > 0 ? await fromResults(path, files) : await replayCases(path, options, config),
    );
  const analyst = resolveAnalyst(options, config);
  const answered = cases.filter(({ result }) => result.analyst !== null);
  const getMaker = ({ result }: ReplayedCase) => ({ ...result, analyst: result.analyst ?? '' });
  const answers = listLabeledCases(filterByMaker(answered, getMaker, analyst));
  const leftOut = cases.length - answers.length;
  if (leftOut > 0)
    say(
      `Left out ${leftOut} of ${cases.length} cases, whose category is unknown or which ${analyst} did ` +
        'not answer.',
    );
  return { answers, analyst, sources: paths.map((path) => basename(path)), perDay: null };
}

type Maker = Pick<DecidedAnswer, 'analyst' | 'model' | 'promptHashes'>;

/**
 * Keeps the answers that this analyst gave with today's prompts. If a model was unavailable, the rules
 * answered, and their answers say nothing about the model. Throws `invalid-input` if it would keep none.
 */
function filterByMaker<Answer>(
  answers: readonly Answer[],
  getMaker: (answer: Answer) => Maker,
  analyst: string,
): Answer[] {
  const prompts = listPrompts(analyst);
  const given = answers.filter((answer) => {
    const { analyst: by, model } = getMaker(answer);
    return isCalibratedAs(analyst, by, model);
  });
  if (given.length === 0 && answers.length > 0)
    throw createNoAnswersError(
      analyst,
      answers.map(getMaker).map((maker) => formatAnalystName(maker.analyst, maker.model)),
    );
  const matching = given.filter((answer) => {
    const { analyst: by, promptHashes } = getMaker(answer);
    return isAnsweredWith(prompts, by, promptHashes);
  });
  const others = formatCount(given.length - matching.length, 'answer');
  if (given.length > 0 && matching.length === 0)
    throw new TriageError(
      'invalid-input',
      `There are only answers by ${analyst} with other prompts than today’s (${others}). Replay the cases ` +
        'again, or wait for decisions on new answers.',
    );
  if (given.length > matching.length) say(`Left out ${others} with other prompts than today’s.`);
  return matching;
}

/** The prompts that decide an answer of a model. */
const DECIDING = ['triage/answer', 'triage/verify'];

/** Lists the hashes of today's prompts that write and verify an answer. Rules have none. */
function listPrompts(analyst: string): string[] {
  if (!analyst.startsWith('llm ')) return [];
  return CATEGORIES.flatMap((category) => DECIDING.map((name) => loadPrompt(name, category).hash));
}

function createNoAnswersError(analyst: string, others: readonly string[]): TriageError {
  const named = [...new Set(others)].slice(0, 5).map(toVisibleLine).join(', ');
  return new TriageError(
    'invalid-input',
    `There are no answers by ${analyst}, only by ${named}; set --analyst, or configure that model.`,
  );
}

/** Gathers the decisions of reviewers about the answers of one analyst. */
async function gatherDecided(options: CalibrateCommandOptions, config: Config): Promise<GatheredAnswers> {
  const analyst = resolveAnalyst(options, config);
  return await withCalibrations(options, async (calibrations) => {
    const decided = await calibrations.decided(NEWEST_DECIDED);
    const matching = filterByMaker(decided, (answer) => answer, analyst);
    if (matching.length === 0)
      throw new TriageError(
        'invalid-input',
        `No answer of ${analyst} has been reviewed or graded yet, so there is nothing to calibrate with.`,
      );
    const count = (wanted: DecidedAnswer['origin']) =>
      matching.filter(({ origin }) => origin === wanted).length;
    const [audits, graded] = [count('audit'), count('outcome')];
    if (matching.length > graded)
      say(
        `${matching.length - graded} decided answers, ${audits} of them sampled from published ` +
          `answers${shareText(audits, config.review.auditEvery)}.`,
      );
    if (graded > 0) say(`${formatCount(graded, 'answer')} without a decision, graded by what happened next.`);
    const perDay = new Map(
      (await calibrations.answeredPerDay()).map(({ category, perDay: count }) => [category, count]),
    );
    return {
      answers: listLabeledDecisions(matching, config.review.auditEvery),
      analyst,
      sources: graded > 0 ? ['reviewed', 'graded by what happened next'] : ['reviewed'],
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

async function replayCases(
  path: string,
  options: CalibrateCommandOptions,
  config: Config,
): Promise<ReplayedCase[]> {
  const { calibration: _applied, ...triage } = config.triage;
  const asked = {
    ...omitUndefined({ analyst: options.analyst }),
    repeat: 1,
    concurrency: options.concurrency,
    green: true,
  };
  const replayed = replayConfig(asked, { ...config, triage });
  const cases: ReplayedCase[] = [];
  const shared = { concurrency: options.concurrency, green: true, maxLogBytes: config.http.maxLogBytes };
  const onCase = (done: ReplayedCase) => {
    cases.push(stripForMetrics(done));
    if (done.result.error !== null) say(`${done.result.id}: ${done.result.error}`);
  };
  const answer = await openAnswerer(asked, replayed);
  await replay(
    { ...shared, cases: await openCases(path), budgetTokens: resolveBudgetTokens(replayed), answer, onCase },
    createInterruptSignal(),
  );
  return cases;
}

async function fromResults(path: string, files: readonly RunResults[]): Promise<ReplayedCase[]> {
  const cases: ReplayedCase[] = [];
  for await (const outcome of await openCases(path)) {
    if ('error' in outcome) continue;
    const { row } = outcome.one;
    const [result, other] = files.flatMap(({ results }) => results.get(row.id) ?? []);
    if (other !== undefined)
      throw new TriageError(
        'invalid-input',
        `--results: the case ${toVisibleLine(row.id)} is in two of the files.`,
      );
    if (result !== undefined)
      cases.push(stripForMetrics({ row, result, analysis: null, quotes: { made: 0, literal: 0 } }));
  }
  return cases;
}
