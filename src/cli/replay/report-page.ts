import type { Config } from '../../config/schema.ts';
import type { ReplayCommandOptions } from './replay-options.ts';
import type { ReportedRun } from './reported-run.ts';

/** Everything that was replayed as one page that needs nothing else. */
export async function reportPage(reported: readonly ReportedRun[], _options: ReplayCommandOptions, _config: Config): Promise<string> {
  return reported.map(({ heading }) => heading).join('\n');
}
