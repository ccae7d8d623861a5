import type { TerminalApp } from '../../../src/app/terminal-app.ts';
import { createSparseBuild } from '../../../src/domain/build.ts';
import { toResult } from '../../../src/replay/run/results.ts';
import type { AnswerLogs } from './composition-gate.ts';

const never = new AbortController().signal;

/** Creates an answerer of logs that answers every cause as `faultline triage` does, with the given app. */
export function answerWith(app: Pick<TerminalApp, 'triage'>): AnswerLogs {
  const build = {
    ...createSparseBuild({ repository: 'example/mono', pipeline: 'ci', number: '1' }),
    id: 'joined',
    receivedAt: new Date(0).toISOString(),
  };
  return async (sources) => {
    const triaged = await app.triage(build, sources, never);
    const { analyses, failureFound } = toResult('joined', triaged, 0);
    const failures = triaged.analyses.map(({ failureIds }) => {
      const own =
        triaged.groups.find((group) => group.failures.some(({ id }) => failureIds.includes(id)))?.failures ??
        [];
      return own.map(({ test, message }) => ({
        test: test?.name ?? null,
        suite: test?.suite ?? null,
        message,
      }));
    });
    return {
      failureFound: failureFound === true,
      answers: analyses,
      failures,
      text: sources.map(({ text }) => text).join('\n'),
    };
  };
}
