import { resolve } from 'node:path';
import { TriageError } from '../../domain/errors.ts';
import { writeCaseSet } from '../../replay/cases/case-set.ts';
import { beginFolder } from '../../replay/cases/new-folder.ts';
import { interruptSignal, jsonText, print } from '../terminal.ts';
import { setText } from './cases-text.ts';
import { casesOfApp, openInstallation, type StoredCaseOptions, storeFilter } from './stored-cases.ts';

export interface ExportCommandOptions extends StoredCaseOptions {
  readonly out: string;
}

/** `faultline cases export`: stored failures and what people decided, as a case set of one's own. */
export async function runCasesExport(options: ExportCommandOptions): Promise<void> {
  if (options.reviewed !== true && options.stored !== true)
    throw new TriageError('invalid-config', 'Choose --reviewed for reviewed failures, or --stored for all stored failures.');
  // What is mistyped is said before anything is opened.
  storeFilter(options);
  const signal = interruptSignal();
  const out = resolve(options.out);
  const folder = await beginFolder(out);
  const notCases: Record<string, number> = {};
  const onLeftOut = (_id: string, reason: string) => {
    notCases[reason] = (notCases[reason] ?? 0) + 1;
  };
  try {
    const app = await openInstallation(options);
    try {
      const cases = casesOfApp(app, options, onLeftOut);
      const limits = { masker: app.masker, maxLogBytes: app.config.http.maxLogBytes };
      const set = await writeCaseSet(cases, folder, limits, signal);
      await print(options.json ? jsonText({ ok: true, out, ...set, notCases }) : setText(options.out, set, notCases));
    } finally {
      await app.close({ drainMs: 0 });
    }
  } finally {
    await folder.discard();
  }
}
