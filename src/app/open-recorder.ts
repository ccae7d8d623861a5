import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/schema.ts';
import { RECORDING_SCHEMA, type RecordedMaker } from '../domain/recording.ts';
import type { Clock } from '../lib/time.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { RecordingStore, RunRecorder } from '../ports/measurements.ts';
import type { Logger } from '../ports/telemetry.ts';

import { createRunRecorder } from '../triage/recording/recorder.ts';
import { packLines, shortHashOf } from '../triage/recording/recording-lines.ts';
import { modelOptions } from './model-options.ts';

export interface RecorderParts {
  readonly clock: Clock;
  readonly masker: Masker;
  readonly logger: Logger;
}

/** Every run is recorded into the store. */
export async function openRecorder(
  config: Pick<Config, 'analyst'>,
  { store, ...parts }: RecorderParts & { readonly store: Pick<RecordingStore, 'append'> },
): Promise<RunRecorder> {
  return createRunRecorder({
    ...parts,
    madeBy: await makerOfToday(config),
    keep: async (triageId, lines) => await store.append({ triageId, schema: RECORDING_SCHEMA, bytes: await packLines(lines) }),
  });
}

/** What a recording says of the code and the configuration that made it. */
export async function makerOfToday(config: Pick<Config, 'analyst'>): Promise<Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>> {
  const { ALL_RULES } = await import('../judge/rules/all.ts');
  const rules = ALL_RULES.map(({ meets, spares, ...rule }) => ({
    ...rule,
    patterns: rule.patterns.map(String),
    when: rule.when?.toString(),
  }));
  const model = config.analyst.driver === 'llm' ? (modelOptions(config.analyst.llm)?.model ?? null) : null;
  return { faultline: await versionOfPackage(), rules: shortHashOf(rules), model };
}

async function versionOfPackage(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8').catch(() => '{}');
  const read: unknown = JSON.parse(text);
  return typeof read === 'object' && read !== null && 'version' in read && typeof read.version === 'string' ? read.version : 'unknown';
}
