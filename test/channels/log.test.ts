import { expect, it } from 'vitest';
import { createLogChannel } from '../../src/channels/log.ts';
import { type Logger, silentLogger } from '../../src/ports/telemetry.ts';
import { publisherContract } from '../contract/publisher-contract.ts';
import { recalledAnalysis, sampleBuild } from '../support/sample-analysis.ts';
import { callTo, openAnswers, send } from './sending.ts';

function recordingLogger(): { logger: Logger; lines: [object, string][] } {
  const lines: [object, string][] = [];
  return {
    lines,
    logger: { ...silentLogger, info: (fields, message) => void lines.push([fields, message]) },
  };
}

publisherContract('log', async () => {
  const { logger, lines } = recordingLogger();
  return { publisher: await openAnswers(createLogChannel(), { logger }), told: () => lines.length };
});

it('the log channel logs fields and a fixed sentence', async () => {
  const { logger, lines } = recordingLogger();
  const publisher = await openAnswers(createLogChannel(), { logger });
  await send(publisher, { build: sampleBuild(), analysis: recalledAnalysis() }, callTo(null));
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
