import { z } from 'zod';
import type { ModelUsage } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import type { Finding } from '../domain/evidence.ts';
import { append } from '../lib/collections.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { DocumentFolder } from '../ports/document-folder.ts';
import type { Summarize, SummaryPoint } from '../ports/summarize.ts';
import { readLines } from './code/read-lines.ts';
import { findBuiltCode } from './repository.ts';
import { defineTool, type Tool, type ToolContext } from './tool.ts';

/** The maximum size of one question to the model, in characters, and the maximum number of questions. */
const MAX_PART = 16_000;
const MAX_PARTS = 2;

const Parameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('The file or document'),
  lineStart: z.int().min(1).default(1),
  focus: z.string().trim().max(300).default('').describe('What the summary is for'),
});

type ReadText = (path: string, context: ToolContext) => Promise<readonly string[] | null>;

interface SummaryParts {
  readonly summarize: Summarize;
  readonly mask: (text: string) => Promise<string>;
}

/** Creates the tool that summarizes a file of a repository. */
export function createSummarizeFile(codeHost: CodeHost, parts: SummaryParts): Tool {
  return createSummarizeText(parts, async (path, context) => {
    const code = await findBuiltCode(codeHost, context);
    const located = await code.locate(path);
    return 'findings' in located ? null : ((await readLines(code, located.path))?.lines ?? null);
  });
}

/** Creates the tool that summarizes a document. */
export function createSummarizeDocument(folder: DocumentFolder, parts: SummaryParts): Tool {
  return createSummarizeText(parts, async (wanted, { signal }) => {
    const { documents } = await folder.readAll(signal);
    return documents.find(({ path }) => path === wanted)?.lines ?? null;
  });
}

function createSummarizeText({ summarize, mask }: SummaryParts, readText: ReadText): Tool {
  return defineTool({
    name: 'summarize_text',
    question:
      'What does this long file or document say, in points with their lines? To quote it, read the lines ' +
      'instead.',
    serves: { CODE_ERROR: null },
    investigator: 'documents',
    asks: 'knowledge',
    costClass: 'high',
    usualLatencyMs: 5_000,
    provider: 'model',
    parameters: Parameters,
    async run({ path, lineStart, focus }, context): Promise<Finding[]> {
      const lines = await readText(path, context);
      if (lines === null || lines.length < lineStart)
        throw new TriageError('not-found', `${path} has no line ${lineStart}, or cannot be read.`);
      const masked = (await mask(lines.join('\n'))).split('\n');
      const findings: Finding[] = [];
      let from = lineStart;
      for (let part = 0; part < MAX_PARTS && from <= masked.length; part += 1) {
        const taken = takeLines(masked, from);
        const asked = { title: path, focus, lineStart: from, lines: taken };
        const summary = await summarize(asked, context.signal).catch((error: unknown) => {
          // What was summarized before is kept, with its cost.
          if (findings.length === 0) throw error;
          return null;
        });
        if (summary === null) break;
        append(findings, toFindings(path, summary, { lineStart: from, lineEnd: from + taken.length - 1 }));
        from += taken.length;
      }
      const rest = from <= masked.length ? `; lines ${from}–${masked.length} are not summarized` : '';
      return findings.map((finding, index) =>
        index === findings.length - 1 ? { ...finding, title: `${finding.title}${rest}` } : finding,
      );
    },
  });
}

function takeLines(lines: readonly string[], from: number): string[] {
  const taken: string[] = [];
  let size = 0;
  for (const line of lines.slice(from - 1)) {
    size += line.length + 8;
    if (size > MAX_PART && taken.length > 0) break;
    taken.push(line.slice(0, MAX_PART));
  }
  return taken;
}

/** Returns a finding for each point, or one without a point. The first has the usage of the model. */
function toFindings(
  path: string,
  { points, usage }: { readonly points: readonly SummaryPoint[]; readonly usage: ModelUsage },
  lines: Pick<SummaryPoint, 'lineStart' | 'lineEnd'>,
): Finding[] {
  const listed =
    points.length > 0 ? points : [{ ...lines, text: 'The model named no point of these lines.' }];
  return listed.map(({ text, lineStart, lineEnd }, index) => ({
    title: `${path}, lines ${lineStart}–${lineEnd}, summarized by the model`,
    text,
    source: path,
    lineStart,
    lineEnd,
    ...(index === 0 ? { data: { usage } } : {}),
  }));
}
