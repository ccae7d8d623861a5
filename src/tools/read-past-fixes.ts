import { z } from 'zod';
import type { Build } from '../domain/build.ts';
import type { Finding } from '../domain/evidence.ts';
import type { FailureRow } from '../domain/failure.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { inScope } from './code-scope.ts';
import { commitTitle } from './commit-finding.ts';
import { codeUnavailable } from './repository-file.ts';
import { defineTool, type Tool } from './tool.ts';

/** Earlier failures looked at: each is one comparison. */
const MAX_FIXES = 2;
const MAX_EARLIER = 20;
/** More files than these between red and green do not tell which of them mended it. */
const MAX_FILES = 25;
const MAX_COMMITS = 10;

/** What mended it the last time? */
export function readPastFixes(codeHost: CodeHost, history: HistoryStore): Tool {
  return defineTool({
    name: 'read_past_fixes',
    question: 'When this same failure was mended before, which files and commits stood between the red build and the green one?',
    categories: ['CODE_ERROR', 'TEST_FAILURE'],
    costClass: 'medium',
    usualLatencyMs: 800,
    provider: `code-host:${codeHost.driver}`,
    parameters: z.strictObject({}),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run(_args, { subject, category, signal }): Promise<Finding[]> {
      const { repository, pipeline, branch, id } = subject.build;
      // What has no identity of its own has no earlier fix either.
      if (subject.generic) return [];
      const { lastGreen } = await history.consecutiveFailures({ repository, pipeline, branch, buildId: id });
      if (lastGreen === null || lastGreen.commit === null) return [];
      const query = { repository, fingerprint: subject.fingerprint.value, test: null, beforeBuildId: id, limit: MAX_EARLIER };
      const earlier = (await history.failureHistory(query)).filter((row) => isMendedBy(lastGreen, row));
      const reds = [...new Map(earlier.flatMap((row) => (row.commit === null ? [] : [[row.commit, row] as const]))).values()];
      const head = lastGreen.commit;
      const found = await Promise.all(
        reds.slice(0, MAX_FIXES).map(async (row): Promise<Finding[]> => {
          const compared = await codeHost.compare({ repository, base: row.commit ?? head, head }, signal);
          const files = compared?.files.filter((file) => inScope(file.path, category)).map(({ path }) => path) ?? [];
          if (compared === null || compared.truncated || files.length === 0 || files.length > MAX_FILES) return [];
          const between = `${row.pipeline} #${row.number} (red) and #${lastGreen.number} (green)`;
          const text = [...compared.commits.slice(0, MAX_COMMITS).map(commitTitle), '', ...files].join('\n');
          const source = `compare/${row.commit?.slice(0, 10)}...${head.slice(0, 10)}`;
          const title = `${files.length} ${files.length === 1 ? 'file' : 'files'} changed between ${between}`;
          return [{ title, text, source, data: { files, fileCount: files.length, buildId: row.failure.buildId } }];
        }),
      );
      return found.flat();
    },
  });
}

/** Whether the failure came before the green build, on its own branch: else something else may have made it green. */
function isMendedBy(green: Build, row: FailureRow): boolean {
  const at = Date.parse(green.finishedAt ?? green.receivedAt);
  return row.branch === green.branch && row.pipeline === green.pipeline && Date.parse(row.seenAt) < at;
}
