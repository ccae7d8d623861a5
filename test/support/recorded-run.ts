import { compileTriageGraph, compileTriageGraphInMemory } from '../../graphs/triage/graph.ts';
import type { TriageLimits } from '../../graphs/triage/state.ts';
import type { Recording } from '../../src/domain/recording.ts';
import { createRulesAnalyst } from '../../src/judge/rules-analyst.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { type InvestigateDeps, investigate } from '../../src/service/triage/investigate.ts';
import { recordAtHand } from '../../src/service/triage/recording/recorder.ts';
import type { Today } from '../../src/service/triage/recording/today.ts';
import { createScriptedToolbox } from './scripted-toolbox.ts';
import { sampleSubject } from './subject.ts';

export const MADE_BY = { faultline: '0.1.0', rules: 'r1', model: null };
export const LIMITS: TriageLimits = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
export const never = new AbortController().signal;

/** Creates a toolbox whose tools return one finding each. */
export function sampleToolbox() {
  return createScriptedToolbox({
    search_knowledge: {
      findings: [
        { title: 'Rounding', text: 'Totals are rounded once.', source: 'knowledge/rounding', score: 0.8 },
      ],
    },
    read_file: {
      findings: [
        {
          title: 'src/cart/tax.ts',
          text: 'round(round(x))',
          source: 'src/cart/tax.ts',
          lineStart: 41,
          lineEnd: 41,
        },
      ],
    },
    grep_log: { status: 'empty', findings: [] },
  });
}

/** Runs and records the sample subject. */
export async function recordRun(
  parts: Partial<InvestigateDeps> = {},
  subject = sampleSubject(),
): Promise<Recording> {
  const atHand = recordAtHand({
    clock: systemClock,
    masker: createMasker(),
    logger: silentLogger,
    madeBy: MADE_BY,
  });
  const waits = parts.questions !== undefined;
  const analysis = await investigate(
    subject,
    {
      analyst: createRulesAnalyst(),
      toolbox: sampleToolbox(),
      clock: systemClock,
      graph: waits ? compileTriageGraphInMemory() : compileTriageGraph(),
      limits: LIMITS,
      timeLimitMs: 20_000,
      durable: waits,
      recorder: atHand.recorder,
      ...parts,
    },
    never,
  );
  const [recording] = atHand.takeRecordings(analysis === null ? [] : [analysis]);
  if (recording === undefined) throw new Error('nothing was recorded');
  return structuredClone(recording);
}

/** Creates the versions and settings with which {@link recordRun} recorded. */
export function sampleToday(change: Partial<Today> = {}): Today {
  const rules = createRulesAnalyst();
  return {
    madeBy: MADE_BY,
    limits: LIMITS,
    boundBy: 'recorded',
    toolbox: sampleToolbox(),
    rules,
    insteadOfModel: rules,
    promptHash: () => null,
    shown: async () => null,
    ...change,
  };
}
