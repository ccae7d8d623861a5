import { z } from 'zod';
import { CATEGORIES } from '../domain/category.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import { chooseSource, windowPieces } from './log-window.ts';
import { defineTool, type Tool } from './tool.ts';

const MAX_LINES = 200;

const Parameters = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Name of the log, report or artifact; by default the log in which the build failed'),
  from: z.int().min(1).describe('First line, 1-based'),
  to: z.int().min(1).describe('Last line, inclusive; at most 200 lines'),
});

/** What stands on these lines of the log? */
export function viewLog(archive: BuildArchive): Tool {
  return defineTool({
    name: 'view_log',
    question: 'What stands on these lines of the log?',
    categories: CATEGORIES,
    costClass: 'low',
    usualLatencyMs: 100,
    provider: `build-archive:${archive.driver}`,
    parameters: Parameters.refine(({ from, to }) => to >= from && to - from < MAX_LINES, {
      error: `from must not be after to, and the limit is ${MAX_LINES} lines`,
    }),
    async run({ source: named, from, to }, { subject }) {
      const source = await chooseSource(archive, subject, named);
      if (source === null || from > source.lines) return [];
      const window = await archive.lines(subject.build.id, source.name, from, Math.min(to, source.lines));
      return window === null ? [] : windowPieces(source.name, source.name, window);
    },
  });
}
