import type { Environment } from '../config/load.ts';
import { maskingOf } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { messageOf } from '../domain/errors.ts';
import { createMasker } from '../log/mask/mask.ts';
import { type Examination, examine, type Finding, ok, wrong } from './doctor-finding.ts';
import { examineHere, nodeFinding } from './doctor-here.ts';
import { examineOutside } from './doctor-outside.ts';
import { examineStores } from './doctor-stores.ts';
import { EXIT } from './exit-codes.ts';
import { type DataOptions, dataDirectory, readConfig } from './settings.ts';
import { print } from './terminal.ts';

const NAME_WIDTH = 16;

/** `faultline doctor`: asks every configured backend one cheap question and says what to do. Exit 4 where something is wrong. */
export async function runDoctor(options: DataOptions): Promise<void> {
  const findings = await diagnose(dataDirectory(options.data));
  const isWell = findings.every(({ state }) => state !== 'wrong');
  if (!isWell) process.exitCode = EXIT.refused;
  await print(options.json ? JSON.stringify({ ok: isWell, findings }) : findings.map(render).join('\n'));
}

/** All findings, in a fixed order; the questions are asked side by side, each within its limit. Secrets are masked. Never throws. */
export async function diagnose(dataDir: string, given: Environment = {}): Promise<readonly Finding[]> {
  const read = tryConfig(dataDir, given);
  if ('state' in read) return [nodeFinding(), read];
  const { config } = read;
  const examinations: Examination[] = [...examineHere(config, dataDir), ...examineOutside(config), ...examineStores(config)];
  const found = (await Promise.all(examinations.map(examine))).flat();
  return maskFindings([nodeFinding(), ok('configuration', `data directory ${dataDir}`), ...found], config);
}

function tryConfig(dataDir: string, given: Environment): { readonly config: Config } | Finding {
  try {
    return { config: readConfig(dataDir, given) };
  } catch (error) {
    return wrong('configuration', messageOf(error), 'correct the variables named above');
  }
}

/** What a driver says may name a whole address, with its password. */
async function maskFindings(findings: readonly Finding[], config: Config): Promise<readonly Finding[]> {
  const masker = createMasker(maskingOf(config));
  const says = await masker.maskAll(findings.map((finding) => finding.says));
  return findings.map((finding, index) => ({ ...finding, says: says[index]?.text ?? '***' }));
}

function render({ state, name, says, mend }: Finding): string {
  const indent = ' '.repeat(NAME_WIDTH + 9);
  return `${state.padEnd(5)}  ${name.padEnd(NAME_WIDTH)}  ${says}${mend === undefined ? '' : `\n${indent}→ ${mend}`}`;
}
