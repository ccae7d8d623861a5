import { z } from 'zod';
import type { BuildArchive } from '../ports/build-archive.ts';
import { chooseSource, windowAround } from './log-window.ts';
import { defineTool, type Tool } from './tool.ts';

/** Lines shown after the mark: what the build still printed as it gave up. */
const AFTER_EXIT = 10;

const Parameters = z.strictObject({
  source: z.string().min(1).max(500).optional().describe('Name of the log; by default the one in which the build failed'),
  lines: z.int().min(1).max(200).default(60).describe('How many lines'),
  from: z.enum(['exit', 'tail']).default('exit').describe('Up to where the process ended, or up to the end of the log'),
});

/** What was printed last before the process ended? */
export function readConsoleOutput(archive: BuildArchive): Tool {
  return defineTool({
    name: 'read_console_output',
    question: 'What was printed last, before the process ended?',
    categories: ['INFRA_ERROR', 'CONFIG_ERROR', 'DEPENDENCY_ERROR'],
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: Parameters,
    async run({ source: named, lines, from }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null) return [];
      const exit = from === 'exit' ? subject.exits.find((item) => item.source === source.name)?.line : undefined;
      const last = Math.min(exit === undefined ? source.lines : exit + AFTER_EXIT, source.lines);
      const window = await archive.lines(subject.build.id, source.name, Math.max(1, last - lines + 1), last);
      const title = exit === undefined ? `End of ${source.name}` : `${source.name} where the process ended`;
      const finding = window === null ? null : windowAround(source.name, title, window, exit ?? last);
      return finding === null ? [] : [finding];
    },
  });
}
