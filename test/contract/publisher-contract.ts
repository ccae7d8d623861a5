import { describe, expect, it } from 'vitest';
import type { Publisher } from '../../src/ports/publisher.ts';
import { sampleAnalysis, sampleBuild } from '../support/sample-analysis.ts';

/** `told` counts what reached the other side. */
export interface PublisherUnderTest {
  readonly publisher: Publisher;
  told(): number;
}

/** What every Publisher promises. */
export function publisherContract(name: string, makeAdapter: () => Promise<PublisherUnderTest>): void {
  describe(`publisher ${name}`, () => {
    it('tells an answer once, however often it is asked to', async () => {
      const { publisher, told } = await makeAdapter();
      for (let time = 0; time < 3; time++) await publisher.publish(sampleBuild(), sampleAnalysis(), new AbortController().signal);
      expect(told()).toBe(1);
    });

    it('tells two answers of one build', async () => {
      const { publisher, told } = await makeAdapter();
      await publisher.publish(sampleBuild(), sampleAnalysis({ id: 'ana_1' }), new AbortController().signal);
      await publisher.publish(sampleBuild(), sampleAnalysis({ id: 'ana_2' }), new AbortController().signal);
      expect(told()).toBe(2);
    });

    it('tells nothing once it was called off', async () => {
      const { publisher, told } = await makeAdapter();
      await expect(publisher.publish(sampleBuild(), sampleAnalysis(), AbortSignal.abort())).rejects.toThrow();
      expect(told()).toBe(0);
    });
  });
}
