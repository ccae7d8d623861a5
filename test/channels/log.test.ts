import { expect, it } from 'vitest';
import { createLogChannel } from '../../src/channels/log.ts';
import { type Logger, silentLogger } from '../../src/ports/telemetry.ts';
import { testPublisherContract } from '../contract/publisher-contract.ts';
import { createRecalledAnalysis, sampleBuild } from '../support/sample-analysis.ts';
import { callTo, openAnswers, send } from './sending.ts';

function createRecordingLogger(): { logger: Logger; lines: [object, string][] } {
  const lines: [object, string][] = [];
  return {
    lines,
    logger: { ...silentLogger, info: (fields, message) => void lines.push([fields, message]) },
  };
}

testPublisherContract('log', async () => {
  const { logger, lines } = createRecordingLogger();
  return { publisher: await openAnswers(createLogChannel(), { logger }), told: () => lines.length };
});

it('the log channel logs fields and a fixed sentence', async () => {
  const { logger, lines } = createRecordingLogger();
  const publisher = await openAnswers(createLogChannel(), { logger });
  await send(publisher, { build: sampleBuild(), analysis: createRecalledAnalysis() }, callTo(null));
  expect(lines).toEqual([
    [
      expect.objectContaining({
        buildId: 'bld_1',
        analysisId: 'ana_9f2c',
        category: 'TEST_FAILURE',
        confirmedBy: 'grace',
      }),
      'answer published',
    ],
  ]);
});
