import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { listDefinitions } from './code/definitions.ts';
import { findLanguage } from './code/languages.ts';
import { readLines } from './code/read-lines.ts';
import { defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

const MAX_DEFINITIONS = 120;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('Path in the repository'),
});

/** Creates the tool that lists what a file defines: names, lines, size and complexity. */
export function createOutlineFile(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'outline_file',
    question:
      'What does this file define (functions, classes, types), on which lines, and how complex is it?',
    serves: { CODE_ERROR: null },
    investigator: 'code',
    asks: 'code host',
    costClass: 'low',
    usualLatencyMs: 500,
    parameters: Parameters,
    keptBy: 'arguments',
    async run({ path }, context): Promise<Finding[]> {
      const code = await findBuiltCode(codeHost, context);
      const located = await code.locate(path);
      if ('findings' in located) return located.findings;
      const file = await readLines(code, located.path);
      if (file === null) return [];
      const language = findLanguage(located.path)?.name ?? null;
      const all = listDefinitions(located.path, file.lines);
      const listed = all.slice(0, MAX_DEFINITIONS);
      const more = all.length > listed.length ? [`… ${all.length - listed.length} more definitions`] : [];
      const rows = listed.map(({ kind, name, container, line, lineEnd, complexity }) => {
        const inside = container === null ? '' : ` of ${container}`;
        return `${line}–${lineEnd} ${kind} ${name}${inside}, complexity ${complexity}`;
      });
      const kind =
        language === null ? 'its definitions are not known' : `${language}, ${all.length} definitions`;
      return [
        {
          title: code.titled(`${located.path}: ${file.totalLines} lines, ${kind}`),
          text: [...rows, ...more].join('\n'),
          source: located.path,
          data: { path: located.path, lines: file.totalLines, language, commit: code.at.ref },
        },
      ];
    },
  });
}
