import { resolve } from 'node:path';
import { createApp } from '../../app.ts';
import { CATEGORIES, Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { CaseFilter } from '../../ports/cases.ts';
import { silentLogger } from '../../ports/logger.ts';
import { writeCaseSet } from '../../replay/cases/case-set.ts';
import { beginFolder } from '../../replay/cases/new-folder.ts';
import { reviewedCases, storedCases } from '../../replay/cases/stored.ts';
import { type DataOptions, dataDirectory, readStoreConfig } from '../settings.ts';
import { interruptSignal, jsonText, print } from '../terminal.ts';
import { setText } from './cases-text.ts';

export interface ExportCommandOptions extends DataOptions {
  readonly reviewed?: true;
  readonly stored?: true;
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  readonly category?: string;
  readonly since?: string;
  readonly until?: string;
  readonly out: string;
}

/** `faultline cases export`: stored failures and what people decided, as a case set of one's own. */
export async function runCasesExport(options: ExportCommandOptions): Promise<void> {
  if (options.reviewed !== true && options.stored !== true)
    throw new TriageError('invalid-config', 'Say which: --reviewed for what people decided, or --stored for every stored failure.');
  const filter = filterOf(options);
  const signal = interruptSignal();
  const out = resolve(options.out);
  const folder = await beginFolder(out);
  const notCases: Record<string, number> = {};
  const onLeftOut = (_id: string, reason: string) => {
    notCases[reason] = (notCases[reason] ?? 0) + 1;
  };
  try {
    const app = await createApp(readStoreConfig(dataDirectory(options.data)), silentLogger);
    try {
      const from = { cases: app.stores.cases, builds: app.stores.builds, archive: app.archive };
      const cases = (options.reviewed ? reviewedCases : storedCases)(from, filter, onLeftOut);
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

function filterOf({ repository, branch, fingerprint, category, since, until }: ExportCommandOptions): CaseFilter {
  return {
    ...(repository === undefined ? {} : { repository }),
    ...(branch === undefined ? {} : { branch }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(category === undefined ? {} : { category: categoryOf(category) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

function categoryOf(text: string): Category {
  const category = Category.safeParse(text);
  if (category.success) return category.data;
  throw new TriageError('invalid-config', `--category: "${text}" is none; it must be one of ${CATEGORIES.join(', ')}.`);
}
