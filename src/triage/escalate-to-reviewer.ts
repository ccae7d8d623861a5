import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { FailureGroup } from '../domain/reading.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Stores } from '../ports/stores.ts';
import { type ConcludeDeps, conclude } from './conclude.ts';
import { failedAnalysis, UNREAD } from './failed-analysis.ts';
import type { TriageRun } from './run.ts';

export interface GiveUpDeps extends ConcludeDeps {
  readonly stores: Pick<Stores, 'acts' | 'analyses' | 'builds' | 'failures' | 'notices' | 'reviews' | 'triages'>;
  readonly masker: Masker;
}

const MAX_SENTENCE = 500;

/**
 * The answer to a build that cannot be triaged, so that its failures are not lost: each failure group without an answer, or
 * one that stands for the whole build, gets a failed analysis that waits for a person. Throws where even that cannot be stored.
 */
export async function escalateToReviewer(buildId: string, error: unknown, deps: GiveUpDeps, run: TriageRun): Promise<void> {
  const build = await deps.stores.builds.find(buildId);
  if (build === null) throw new TriageError('not-found', `Build ${buildId} is not stored`);
  const known = await openGroups(build, await deps.stores.failures.saveGroups(build.id, []), deps);
  // Where all that is known is answered, what went wrong hides something that is not known.
  const open = known.length > 0 ? known : await openGroups(build, await deps.stores.failures.saveGroups(build.id, [unread(build)]), deps);
  for (const { group, triageId } of open) await escalateGroup({ build, group, triageId }, error, deps, run);
}

/** The answer to one failure group whose analysis failed with `error`. */
export async function escalateGroup(
  { build, group, triageId }: { readonly build: Build; readonly group: FailureGroup; readonly triageId: string },
  error: unknown,
  deps: Omit<GiveUpDeps, 'stores'> & ConcludeDeps,
  run: TriageRun,
): Promise<Analysis> {
  deps.logger.error({ buildId: build.id, triageId, error }, 'analysis failed; a person is asked');
  const sentence = await sentenceOf(error, deps.masker);
  const analysis = failedAnalysis({ buildId: build.id, triageId, group, error: sentence, now: deps.clock.now() });
  return conclude(build, async () => analysis, deps, run);
}

async function openGroups(build: Build, groups: readonly FailureGroup[], deps: GiveUpDeps) {
  const open: { group: FailureGroup; triageId: string }[] = [];
  for (const group of groups) {
    const triage = await deps.stores.triages.open(build.id, group.fingerprint.value);
    if (triage.analysisId === null) open.push({ group, triageId: triage.id });
  }
  return open;
}

/**
 * Stands for what could not be read. The failure is generic, so that nothing is ever taught from it; the group is not, and has
 * a fingerprint that no other build has: it would join the build's generic group, which may be answered.
 */
function unread(build: Build): FailureGroup {
  const fingerprint = { algorithm: UNREAD, version: 1, value: `unread-${build.id}` };
  const message = 'The build failed, but the reason could not be read.';
  const failure = { id: newId('fal'), buildId: build.id, test: null, message, frames: [], excerpt: null, fingerprint, generic: true };
  return { fingerprint, generic: false, failures: [failure] };
}

/** An error may quote what it stumbled over. */
async function sentenceOf(error: unknown, masker: Masker): Promise<string> {
  const said = messageOf(error).trim() || 'The analysis failed without a message.';
  try {
    return (await masker.mask(said)).text.slice(0, MAX_SENTENCE);
  } catch {
    return 'The analysis failed, and its error message could not be masked.';
  }
}
