import type { TriageRuntime } from '../../triage/context.ts';
import { finishedStep, startWatch } from '../../triage/judge.ts';
import { namedFiles } from '../named-files.ts';
import type { LinearStateUpdate, LinearStateValue } from '../state.ts';

/** The files that the log names. */
export async function nameFiles(state: LinearStateValue, runtime: TriageRuntime): Promise<LinearStateUpdate> {
  const watch = startWatch(runtime);
  const files = namedFiles(state.subject);
  return {
    files,
    ...finishedStep(runtime, watch, {
      node: 'name_files',
      round: 0,
      summary: `${files.length} ${files.length === 1 ? 'file' : 'files'} named`,
    }),
  };
}
