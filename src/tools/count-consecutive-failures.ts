import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import { CATEGORIES } from '../domain/category.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { historyUnavailable } from './past-failure.ts';
import { defineTool, type Tool } from './tool.ts';

/** For how long has this pipeline been red? */
export function countConsecutiveFailures(history: HistoryStore): Tool {
  return defineTool({
    name: 'count_consecutive_failures',
    question: 'How many builds of this pipeline and branch failed in a row, and since which?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 80,
    provider: 'history',
    unavailable: async () => historyUnavailable(history),
    parameters: z.strictObject({}),
    async run(_args, { subject }) {
      const { repository, pipeline, branch, id } = subject.build;
      const { fingerprint, generic } = subject;
      const { count, firstBuild, lastGreen, same, firstSame } = await history.consecutiveFailures({
        repository,
        pipeline,
        branch,
        buildId: id,
        ...(generic ? {} : { fingerprint: fingerprint.value }),
      });
      if (count === 0) return [];
      const where = `${pipeline}${branch === null ? '' : ` on ${branch}`}`;
      const since = firstBuild === null ? '' : ` since ${named(firstBuild)}`;
      const alike =
        same < 2 || firstSame === null
          ? ''
          : `, ${same === count ? 'each time' : `the last ${same} times`} this way (since #${firstSame.number})`;
      const green = lastGreen === null ? 'No earlier green build is known.' : `Last green: ${named(lastGreen)}.`;
      return [
        {
          title: `${where}: ${count} failed in a row`,
          text: `${where} failed ${count} ${count === 1 ? 'time' : 'times'} in a row${since}${alike}. ${green}`,
          source: `history/${repository}/${pipeline}`,
          data: {
            count,
            same,
            firstSameNumber: firstSame?.number ?? null,
            firstBuildId: firstBuild?.id ?? null,
            firstCommit: firstBuild?.commit ?? null,
            lastGreenBuildId: lastGreen?.id ?? null,
            lastGreenCommit: lastGreen?.commit ?? null,
          },
        },
      ];
    },
  });
}

function named(build: Build): string {
  const commit = build.commit === null ? '' : ` (${build.commit.slice(0, 10)})`;
  return `#${build.number}${commit}, ${(build.finishedAt ?? build.receivedAt).slice(0, 10)}`;
}
