import { z } from 'zod';
import type { TriageSubject } from '../domain/triage.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import { chooseSource, windowAround } from './log-window.ts';
import { defineTool, type Tool } from './tool.ts';

const CONTEXT = 30;

const Parameters = z.strictObject({
  source: z.string().min(1).max(500).optional().describe('Name of the log; by default the one in which the build failed'),
  line: z.int().min(1).optional().describe('The line of interest, 1-based; by default the end of the failing step'),
  context: z.int().min(0).max(100).default(CONTEXT).describe('Lines on either side'),
});

/** What does the build log say around this line? */
export function readBuildLog(archive: BuildArchive): Tool {
  return defineTool({
    name: 'read_build_log',
    question: 'What does the build log say around this line, or at the end of the failing step?',
    categories: ['INFRA_ERROR'],
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: Parameters,
    alternative: { tool: 'read_failure_history', args: () => ({}) },
    async run({ source: named, line, context }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      const focus = Math.min(line ?? tellingLine(subject, source.name) ?? source.lines, Math.max(source.lines, 1));
      const window = await archive.lines(subject.build.id, source.name, Math.max(1, focus - context), focus + context);
      const finding = window === null ? null : windowAround(source.name, source.name, window, focus);
      return finding === null ? [] : [finding];
    },
  });
}

/** The last line of the failing step, else the exit mark, else the first excerpt's end. */
function tellingLine(subject: TriageSubject, source: string): number | undefined {
  const section = subject.failedSections.find((item) => item.source === source)?.lineEnd;
  const exit = subject.exits.find((item) => item.source === source)?.line;
  return section ?? exit ?? subject.excerpts.find((item) => item.source === source)?.lineEnd;
}
