import type { App } from '../../app/served-app.ts';
import { createApp } from '../../app.ts';
import { CATEGORIES, Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { CaseFilter } from '../../ports/measurements.ts';
import { silentLogger } from '../../ports/telemetry.ts';
import type { CaseOutcome } from '../../replay/cases/case.ts';
import { type OnLeftOut, reviewedCases, storedCases } from '../../replay/cases/stored.ts';
import { type DataOptions, dataDirectory, readStoreConfig } from '../settings.ts';
import type { StoreFilterOptions } from './store-filters.ts';

/** Which stored failures are asked for, and where they are. */
export interface StoredCaseOptions extends DataOptions, StoreFilterOptions {
  /** What people decided. */
  readonly reviewed?: true;
  /** Every stored failure. */
  readonly stored?: true;
}

/** The stored failures that were asked for, of an app that is open. */
export function casesOfApp(app: App, options: StoredCaseOptions, onLeftOut?: OnLeftOut): AsyncIterable<CaseOutcome> {
  const from = { cases: app.stores.cases, builds: app.stores.builds, archive: app.archive };
  return (options.reviewed ? reviewedCases : storedCases)(from, storeFilter(options), onLeftOut);
}

/** Opens an installation as the commands of operators do. Whoever opens it closes it. */
export async function openInstallation(options: DataOptions): Promise<App> {
  return await createApp(readStoreConfig(dataDirectory(options.data)), silentLogger);
}

/** What chooses among stored failures. Throws where a category is none. */
export function storeFilter({ repository, branch, fingerprint, category, since, until }: StoreFilterOptions): CaseFilter {
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
  throw new TriageError('invalid-config', `--category: "${text}" is not a category; use one of ${CATEGORIES.join(', ')}.`);
}
