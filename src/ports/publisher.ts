import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';

/** Tells somebody about a sure answer. Idempotent by analysis id. */
export interface Publisher {
  readonly driver: string;
  publish(build: Build, analysis: Analysis, signal: AbortSignal): Promise<void>;
}
