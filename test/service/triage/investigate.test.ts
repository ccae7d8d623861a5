import { MemorySaver } from '@langchain/langgraph';
import { describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { NOTHING_FOUND } from '../../../src/log/fingerprint/failures.ts';
import { type InvestigateDeps, investigate } from '../../../src/service/triage/investigate.ts';
import { findWalkError } from '../../support/graph-walk.ts';
import { createScriptedAnalyst, type ScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const WHOLE_RUN = 'classify plan chooseTools plan chooseTools plan chooseTools answer verify'.split(' ');
const never = new AbortController().signal;

/** A checkpointer that keeps `budget` writes and then is silent, as one whose process was killed. */
class DyingSaver extends MemorySaver {
  private done = 0;
  private readonly budget: number;
  readonly died: Promise<'died'>;
  private die: () => void = () => undefined;

  constructor(budget: number) {
    super();
    this.budget = budget;
    this.died = new Promise((resolve) => {
      this.die = () => resolve('died');
    });
  }

  override async put(...args: Parameters<MemorySaver['put']>): ReturnType<MemorySaver['put']> {
    await this.spend();
    return super.put(...args);
  }

  override async putWrites(...args: Parameters<MemorySaver['putWrites']>): Promise<void> {
    await this.spend();
    return super.putWrites(...args);
  }

  /** What the next process finds. */
  survivor(): MemorySaver {
    const saver = new MemorySaver();
    saver.storage = this.storage;
    saver.writes = this.writes;
    return saver;
  }

  private async spend(): Promise<void> {
    if (this.done++ < this.budget) return;
    this.die();
    await new Promise<never>(() => undefined);
  }
}

function createDeps(saver: MemorySaver): InvestigateDeps & { readonly analyst: ScriptedAnalyst } {
  const analyst = createScriptedAnalyst();
  // By what is known and not by turn: whoever continues a run asks nothing twice.
  const { chooseTools } = analyst;
  analyst.chooseTools = async (input, signal) => {
    const value = input.outcomes.length === 0 ? [{ tool: 'search_knowledge', args: {}, why: '' }] : [];
    return { ...(await chooseTools(input, signal)), value };
  };
  const toolbox = createScriptedToolbox({
    search_knowledge: { findings: [{ title: 'a', text: 'b', source: 'c' }] },
  });
  return {
    analyst,
    toolbox,
    clock: systemClock,
    onStep: undefined,
    graph: compileTriageGraph(saver),
    limits: LIMITS,
    timeLimitMs: 10_000,
    durable: true,
  };
}

describe('investigating a failure', () => {
  it('finishes a run that died after any write of a checkpoint, without repeating a finished node', async () => {
    let budget = 0;
    for (; budget < 100; budget++) {
      const saver = new DyingSaver(budget);
      const first = createDeps(saver);
      const end = await Promise.race([investigate(sampleSubject(), first, never), saver.died]);
      if (end !== 'died') break;

      const second = createDeps(saver.survivor());
      const analysis = await investigate(sampleSubject(), second, never);

      expect(findWalkError(analysis?.steps ?? []), `died after ${budget} writes`).toBeNull();
      const repeated = first.analyst.asked.length + second.analyst.asked.length - WHOLE_RUN.length;
      expect(repeated, `judgements repeated after ${budget} writes`).toBeLessThanOrEqual(1);
    }
    expect(budget).toBeGreaterThan(15);
  });

  it('returns the answer of a finished run without judging again', async () => {
    const saver = new MemorySaver();
    const once = await investigate(sampleSubject(), createDeps(saver), never);
    const again = createDeps(saver);

    const analysis = await investigate(sampleSubject(), again, never);

    expect(again.analyst.asked).toEqual([]);
    expect(analysis?.steps).toEqual(once?.steps);
  });

  it('notes that no error was found only if the answer names none', async () => {
    const subject = { ...sampleSubject(), notes: [NOTHING_FOUND, 'Cut at 200 MB.'] };
    const sure = await investigate(subject, createDeps(new MemorySaver()), never);
    expect(sure?.classification.abstained).toBe(false);
    expect(sure?.notes).toContain('Cut at 200 MB.');
    expect(sure?.notes).not.toContain(NOTHING_FOUND);

    const unsure = createDeps(new MemorySaver());
    const { classify } = unsure.analyst;
    unsure.analyst.classify = async (...given) => {
      const judged = await classify(...given);
      return { ...judged, value: { ...judged.value, abstained: true } };
    };
    expect((await investigate(subject, unsure, never))?.notes).toContain(NOTHING_FOUND);
  });

  it('ends at its time limit', async () => {
    const slow = createDeps(new MemorySaver());
    slow.analyst.answer = () => new Promise<never>(() => undefined);
    await expect(investigate(sampleSubject(), { ...slow, timeLimitMs: 50 }, never)).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });
});
