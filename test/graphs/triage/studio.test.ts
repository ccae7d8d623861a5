import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { graph } from '../../../graphs/triage/graph.ts';
import { sampleSubject } from '../../support/subject.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};

/** What the configuration schema of @langchain/langgraph-cli 2.0 takes for a graph in TypeScript; it refuses other Node versions. */
const Configuration = z.strictObject({
  node_version: z.enum(['20', '22']),
  graphs: z.record(z.string(), z.string().regex(/^\.\/.+\.ts:\w+$/)),
  env: z.record(z.string(), z.string()),
});

describe("LangGraph's own tools", () => {
  it('find every graph that langgraph.json names, and can draw it', async () => {
    const { graphs } = Configuration.parse(JSON.parse(readFileSync(resolve(ROOT, 'langgraph.json'), 'utf8')));
    expect(Object.keys(graphs)).toEqual(['triage']);
    for (const place of Object.values(graphs)) {
      const [file = '', name = ''] = place.split(':');
      const found: Record<string, unknown> = await import(resolve(ROOT, file));
      expect(found[name]).toBe(graph);
    }
    expect((await graph.getGraphAsync()).drawMermaid()).toContain('select_tool');
  });

  it.each([
    ['nothing', {}],
    ['JSON', { analyst: {}, toolbox: { run: 'x' }, clock: { now: 1 } }],
  ])('get an error that names what a run needs if they pass %s', async (_what, context) => {
    // As they call it: with whatever context came over HTTP.
    const run = graph.invoke({ subject: sampleSubject(), limits: LIMITS }, { context: context as never });
    await expect(run).rejects.toThrow(/A run needs its analyst\. Faultline passes it/);
    await expect(run).rejects.toThrow(/A run needs its clock\./);
  });
});
