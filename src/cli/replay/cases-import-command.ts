import { dirname, resolve } from 'node:path';
import { maskingOf } from '../../config/masking.ts';
import { createMasker } from '../../log/mask/mask.ts';
import { writeCaseSet } from '../../replay/cases/case-set.ts';
import { confined, datasetCases } from '../../replay/cases/dataset.ts';
import { casesAt, datasetAt } from '../../replay/cases/folder.ts';
import { beginFolder } from '../../replay/cases/new-folder.ts';
import { terminalConfig } from '../command-parts.ts';
import { interruptSignal, jsonText, print } from '../terminal.ts';
import { setText } from './cases-text.ts';

export interface ImportCommandOptions {
  readonly out: string;
  readonly logsIn?: string;
  readonly json?: boolean;
}

/** `faultline cases import`: cases from elsewhere, masked and checked, as a case set of one's own. */
export async function runCasesImport(path: string, options: ImportCommandOptions): Promise<void> {
  const signal = interruptSignal();
  const config = await terminalConfig();
  const dataset = await datasetAt(path);
  const cases =
    dataset === null ? await casesAt(path) : confined(datasetCases(dataset), dataset, resolve(options.logsIn ?? dirname(dataset)));
  const folder = await beginFolder(resolve(options.out));
  const limits = { masker: createMasker(maskingOf(config)), maxLogBytes: config.http.maxLogBytes };
  const set = await writeCaseSet(cases, folder, limits, signal);
  await print(options.json ? jsonText({ ok: true, out: resolve(options.out), ...set }) : setText(options.out, set));
}
