import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROMPT_FOLDER } from '../../../prompts/load.ts';
import { budgetTokensOf } from '../../config/profiles.ts';
import type { Config } from '../../config/schema.ts';
import type { RunManifest } from '../../replay/run/results-file.ts';
import { VERSION } from '../version.ts';
import { stagesLeftOut } from './answering.ts';
import type { CaseSource } from './case-sources.ts';
import type { CaseMeasure } from './measure-file.ts';
import type { ReplayCommandOptions } from './replay-options.ts';

/** Sources of cases with what they measure. */
export type Measured = CaseMeasure & { readonly source: CaseSource };

/** What a run is made of and with. Whatever an answer depends on belongs here: a run only goes on with results of the same. */
export function manifestOf(options: ReplayCommandOptions, config: Config, measured: readonly Measured[]): RunManifest {
  return {
    schema: 1,
    version: VERSION,
    startedAt: new Date().toISOString(),
    sources: measured.map(({ source, sha256, cases }) => ({ name: source.name, sha256, cases })),
    settings: settingsOf(options, config),
  };
}

/** By their names for people; null is "not set". */
export function settingsOf(options: ReplayCommandOptions, config: Config): RunManifest['settings'] {
  const { driver, llm } = config.analyst;
  const read = {
    'budget in tokens': budgetTokensOf(config),
    'left out': stagesLeftOut(options).join(', ') || null,
    'names masked': namesHidden(config),
  };
  if (options.only === 'read') return { analyst: null, ...read };
  return {
    analyst: driver,
    design: options.design ?? 'loop',
    ...read,
    profile: config.triage.profile,
    'settings of the triage': digestOf(JSON.stringify(config.triage)),
    ...(driver === 'llm' ? { model: llm.model, server: originOf(llm.baseUrl ?? llm.azure.endpoint), prompts: promptsDigest() } : {}),
  };
}

/** Answers are to logs as they are masked. */
function namesHidden({ mask: { emails, hosts, hostSuffixes } }: Config): string | null {
  const hidden = [...(emails ? ['e-mail addresses'] : []), ...(hosts ? ['hosts', ...hostSuffixes] : [])];
  return hidden.join(', ') || null;
}

/** Without what a URL may hold of secrets. */
function originOf(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).origin : null;
}

/** Changes with any prompt of the triage. */
function promptsDigest(): string {
  const folder = join(PROMPT_FOLDER, 'triage');
  const files = readdirSync(folder).sort();
  return digestOf(files.map((file) => `${file}\n${readFileSync(join(folder, file), 'utf8')}`).join('\n'));
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
