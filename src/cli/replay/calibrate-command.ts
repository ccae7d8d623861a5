import { writeFile } from 'node:fs/promises';
import { maskingOf } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { type Calibration, calibratedAnalyst, parseCalibration } from '../../domain/calibration.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { type CalibrateOptions, calibrationOf } from '../../replay/calibrate/calibrate.ts';
import { operatorName } from '../operator-name.ts';
import { jsonText, print, say } from '../terminal.ts';
import { decidedAnswers, replayedAnswers } from './calibrate-answers.ts';
import type { CalibrateCommandOptions, GatheredAnswers } from './calibrate-options.ts';
import { checkReplaced, putInForce, withCalibrations } from './calibrate-store.ts';
import { renderCalibration } from './calibrate-text.ts';

/** `faultline calibrate`: fits, cross-validates, prints; writes and applies only what it is told to. */
export async function runCalibrate(options: CalibrateCommandOptions, config: Config): Promise<void> {
  if ((options.dataset === undefined) === (options.reviewed !== true))
    throw new TriageError('invalid-config', 'Choose what to fit to: either --dataset FILE… or --reviewed.');
  if (options.apply) await refuseEarly(options, config);
  const gathered = options.reviewed ? await decidedAnswers(options, config) : await replayedAnswers(options, config);
  const risk = options.risk === undefined ? null : { most: options.risk, confidence: options.confidence };
  const { humanReview: doubted } = config.triage.thresholds;
  const fitted = calibrationOf(gathered.answers, { ...(await madeBy(gathered, config)), method: options.method, risk, doubted });
  if (options.out !== undefined) await writeCalibration(fitted.calibration, options.out);
  const applied = options.apply ? await apply(fitted.calibration, options) : null;
  const { held: _held, ...shown } = fitted;
  if (options.json) return print(jsonText({ ok: true, ...shown, calibration: applied ?? shown.calibration, applied: applied !== null }));
  await print(renderCalibration(fitted, gathered));
  if (options.out !== undefined) say(`Written to ${options.out}. Apply it with: FAULTLINE_CALIBRATION=${options.out} faultline triage …`);
  if (applied !== null) say(`Version ${applied.version} is in force for ${applied.analyst}; workers follow within seconds.`);
  if (options.out === undefined && applied === null)
    say('Nothing was written or applied. Use --out FILE to write it, or --apply to put it in force.');
}

async function madeBy({ answers, analyst, sources }: GatheredAnswers, config: Config): Promise<Omit<CalibrateOptions, 'method' | 'risk'>> {
  const masker = createMasker(maskingOf(config));
  const texts = [...new Set([...sources, ...answers.map(({ project }) => project)])];
  const masked = new Map<string, string>();
  for (const text of texts) masked.set(text, (await masker.mask(text)).text);
  const made = { createdBy: operatorName(), now: Date.now(), id: newId('cal'), version: 1 };
  return { ...made, analyst, sources, mask: (text) => masked.get(text) ?? '***' };
}

async function writeCalibration(calibration: Calibration, path: string): Promise<void> {
  // What could not be read back must not be written.
  const text = `${JSON.stringify(parseCalibration(calibration, path), null, 1)}\n`;
  await writeFile(path, text).catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

async function apply(calibration: Calibration, options: CalibrateCommandOptions): Promise<Calibration> {
  return await withCalibrations(options, async (calibrations) => {
    await checkReplaced(calibrations, calibration.analyst, options.replaces);
    const kept = await calibrations.add(calibration);
    await putInForce(calibrations, kept.analyst, kept.version, options.replaces);
    return kept;
  });
}

/** A replay may take hours and cost dollars: what would be refused after it is refused before. */
async function refuseEarly(options: CalibrateCommandOptions, { analyst }: Config): Promise<void> {
  const driver = options.analyst ?? analyst.driver;
  const name = calibratedAnalyst(driver, driver === 'llm' ? analyst.llm.model : null);
  await withCalibrations(options, (calibrations) => checkReplaced(calibrations, name, options.replaces));
}
