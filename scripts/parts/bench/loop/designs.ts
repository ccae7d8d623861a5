import { openKnowledge } from '../../../../src/app/index-synchronization.ts';
import { createAppToolbox, createInvestigation } from '../../../../src/app/investigation.ts';
import {
  openAnalyst,
  openCodeHost,
  openFallbackAnalyst,
  openWebSearch,
} from '../../../../src/app/open-adapters.ts';
import { openTracer } from '../../../../src/app/open-telemetry.ts';
import { choosePublishBound } from '../../../../src/app/publish-bound.ts';
import { createEmbeddedPreset } from '../../../../src/config/load.ts';
import { resolveBudgetTokens } from '../../../../src/config/profiles.ts';
import { parseConfig } from '../../../../src/config/schema.ts';
import type { Build } from '../../../../src/domain/build.ts';
import type { Design } from '../../../../src/domain/calibration.ts';
import type { ToolOutcome } from '../../../../src/domain/evidence.ts';
import type { TriageSubject } from '../../../../src/domain/triage.ts';
import { keepKnownArguments } from '../../../../src/judge/choose-tools.ts';
import { readClues } from '../../../../src/judge/clues.ts';
import { silentLogger } from '../../../../src/ports/telemetry.ts';
import { createExperiment } from '../../../../src/replay/ablation.ts';
import { createStoredGreens } from '../../../../src/service/triage/passing-builds.ts';
import { triageSources } from '../../../../src/service/triage/triage-build.ts';
import { createMemoryArchive } from '../../../../src/stores/archive/memory.ts';
import { createMemoryToolCache } from '../../../../src/tools/result-cache.ts';
import type { LoopCase } from './case.ts';
import type { World } from './world.ts';

const NEVER = new AbortController().signal;

/**
 * Opens a design over the stores of a world. Its answers are not stored, so the designs do not see each
 * other's answers.
 */
export async function openDesign(design: Design, { app }: World, folder: string) {
  const { config: stored, stores, vectorIndex, database, masker, clock } = app;
  // The thresholds are those of a new installation. Those of the world let people decide everything.
  const config = parseConfig({
    ...createEmbeddedPreset(folder, stored.knowledge.folder),
    codeHost: stored.codeHost,
  });
  const tracer = await openTracer(config, silentLogger);
  const knowledge = await openKnowledge({ config, database, masker, clock, logger: silentLogger });
  const archive = createMemoryArchive();
  const toolbox = createAppToolbox(
    {
      vectorIndex,
      knowledge,
      archive,
      history: stores.history,
      passingBuilds: createStoredGreens({ passingBuilds: stores.passingBuilds, greenBuilds: 0 }),
      codeHost: await openCodeHost(config, silentLogger),
      webSearch: await openWebSearch(config),
    },
    {
      masker,
      logger: silentLogger,
      cache: createMemoryToolCache(),
      concurrency: config.triage.toolConcurrency,
    },
  );
  const answers: ToolOutcome[] = [];
  let subject: TriageSubject | null = null;
  const heard = {
    ...toolbox,
    run: async (...asked: Parameters<typeof toolbox.run>) => {
      const outcome = await toolbox.run(...asked);
      answers.push(outcome);
      subject = asked[1];
      return outcome;
    },
  };
  const bound = choosePublishBound(config);
  const parts = {
    toolbox: heard,
    clock,
    analyst: await openAnalyst(config, silentLogger, tracer),
    fallbackAnalyst: await openFallbackAnalyst(),
    bound: async () => bound,
  };
  const whole = createInvestigation(config, parts, tracer);
  const investigation = (await createExperiment([], design))?.change(whole) ?? whole;
  const deps = { archive, masker, investigation, budgetTokens: resolveBudgetTokens(config) };
  return {
    design,
    /** Answers a build. Also returns `heard`, the results of the tools, and the total `milliseconds`. */
    async answer(build: Build, log: string) {
      answers.length = 0;
      const startedAt = performance.now();
      const source = { name: 'log.txt', kind: 'log' as const, text: log, notes: [] };
      const { analyses, reading } = await triageSources(build, [source], deps, NEVER);
      const milliseconds = performance.now() - startedAt;
      const [analysis] = analyses;
      if (analysis === undefined) throw new Error(`${build.repository} has no answer`);
      return { analysis, analyses, reading, milliseconds, heard: [...answers] };
    },
    /** Checks whether a tool in the label of the last answered case returned the proof. */
    async isProved({ truth }: LoopCase): Promise<boolean> {
      if (subject === null) return false;
      const [category] = truth.categories;
      for (const tool of truth.settledBy) {
        const described = toolbox.describe(tool);
        const known = described?.argumentsFrom?.(readClues(subject, category)) ?? {};
        const args = described === null ? known : keepKnownArguments(known, described);
        const { findings } = await toolbox.run({ tool, args, why: 'the label' }, subject, category, NEVER);
        if (JSON.stringify(findings).includes(JSON.stringify(truth.proof).slice(1, -1))) return true;
      }
      return false;
    },
  };
}

export type OpenedDesign = Awaited<ReturnType<typeof openDesign>>;
export type Answered = Awaited<ReturnType<OpenedDesign['answer']>>;
