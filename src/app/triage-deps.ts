import { budgetTokensOf } from '../config/profiles.ts';
import type { Step } from '../domain/analysis.ts';
import { createReviewerClient } from '../service/triage/investigate.ts';
import { createOwnerFinder } from '../service/triage/owners.ts';
import { storedGreens } from '../service/triage/passing-builds.ts';
import type { TriageBuildDeps } from '../service/triage/triage-reading.ts';
import type { createPostgresCheckpointer } from '../stores/checkpointer.ts';
import { sightOfReaders } from '../tools/tool.ts';
import { calibrationsInForce, createAppToolbox, investigationOf, openRecorder } from './investigation.ts';
import { openAnalyst, openBuildSources, openCodeHost, openEmbedder, openFallbackAnalyst, openWebSearch } from './open-adapters.ts';
import type { OpenedKnowledge } from './open-knowledge.ts';
import type { Publishing } from './open-publishers.ts';
import type { App } from './served-app.ts';
import { countAnalysis, measuredToolbox, recordNode } from './watched.ts';

type AppParts = Pick<
  App,
  'config' | 'logger' | 'clock' | 'database' | 'stores' | 'archive' | 'vectorIndex' | 'masker' | 'tracer' | 'metrics'
>;

/** What steps 4 to 8 of the road need; `steps` is told which node of which build finished last. */
export async function triageDepsOf(
  {
    config,
    logger,
    clock,
    database,
    stores,
    archive,
    vectorIndex,
    masker,
    tracer,
    metrics,
    found,
    publishing,
  }: AppParts & { readonly found: OpenedKnowledge; readonly publishing: Publishing },
  steps: Map<string, string>,
  checkpointer: Awaited<ReturnType<typeof createPostgresCheckpointer>>,
): Promise<TriageBuildDeps> {
  const passingBuilds = storedGreens({ passingBuilds: stores.passingBuilds, greenBuilds: config.triage.greenBuilds });
  const sources = { vectorIndex, knowledge: found, archive, passingBuilds, history: stores.history };
  const [embedder, codeHost] = [await openEmbedder(config, logger), await openCodeHost(config, logger)];
  const asked = { ...sources, embedder, codeHost, webSearch: await openWebSearch(config) };
  const reviewers = createReviewerClient({
    questions: stores.questions,
    notices: stores.notices,
    masker,
    clock,
    waitMs: config.review.questionMs,
  });
  const toolbox = createAppToolbox(
    { ...asked, reviewers, ...(config.triage.shareRepositories ? {} : { sight: sightOfReaders(stores.tokens) }) },
    { masker, logger, cache: stores.toolCache, concurrency: config.triage.toolConcurrency },
  );
  const [analyst, fallbackAnalyst] = [await openAnalyst(config, logger, tracer, metrics), await openFallbackAnalyst()];
  const recorder = await openRecorder(config, { clock, masker, logger, store: stores.recordings });
  const calibrations = calibrationsInForce(stores.calibrations, clock, logger);
  const judging = {
    toolbox: measuredToolbox(toolbox, metrics),
    clock,
    analyst,
    fallbackAnalyst,
    questions: stores.questions,
    recorder,
    calibrations,
  };
  return {
    database,
    stores,
    archive,
    masker,
    clock,
    logger,
    owners: createOwnerFinder(codeHost, logger, toolbox.breakers),
    buildSources: await openBuildSources(config, logger),
    investigation: investigationOf(config, judging, tracer, checkpointer),
    publishers: publishing.drivers,
    onConcluded: (build, analysis) => countAnalysis(build, analysis, metrics),
    forget: (triageId) => checkpointer.deleteThread(triageId),
    budgetTokens: budgetTokensOf(config),
    greenBuilds: config.triage.greenBuilds,
    auditEvery: config.review.auditEvery,
    onStep: (buildId: string, step: Step) => {
      const { node, round, milliseconds } = step;
      steps.set(buildId, node);
      recordNode(tracer, step);
      // Whoever watches sees it; nobody waits for it.
      stores.runSteps
        .add(buildId, step)
        .catch((error: unknown) => logger.debug({ buildId, error }, 'a step could not be stored for live pages'));
      logger.debug({ buildId, node, round, milliseconds }, 'node finished');
    },
  };
}
