import type { Config } from '../../config/schema.ts';
import type { Analysis } from '../../domain/analysis.ts';
import { TriageError } from '../../domain/errors.ts';
import { append } from '../../lib/collections.ts';
import { toVisibleLine } from '../../notifications/visible-text.ts';
import { EXIT, formatJson, print } from '../terminal.ts';
import { type ListedInput, listInputs } from './input.ts';
import {
  answerInput,
  computeExitCode,
  openTriageRun,
  setExitCode,
  type TriageCommandOptions,
  type TriageRun,
} from './triage-command.ts';
import { formatUnreadable } from './triage-json.ts';
import { renderFileHead } from './triage-text.ts';

/**
 * Runs `faultline triage --each`: answers each file separately, with one JSON object or one section of text
 * per file, in order. A file that cannot be read is reported in its place and does not stop the others. Exits
 * with 3 if no file could be read.
 */
export async function runTriageEach(
  paths: readonly string[],
  options: TriageCommandOptions,
  config: Config,
): Promise<void> {
  if (paths.includes('-'))
    throw new TriageError('invalid-config', '--each reads files: name a directory or files instead of -.');
  const run = await openTriageRun(options, config);
  const files: ListedInput[] = [];
  for (const path of paths) append(files, await listInputs(path));
  const answered: (readonly Analysis[])[] = [];
  for (const [index, file] of files.entries()) {
    if (index > 0 && options.json !== true) await print('\n');
    try {
      const { analyses } = await answerInput({ ...file, files: [], name: file.path }, run);
      answered.push(analyses);
    } catch (error) {
      if (!(error instanceof TriageError) || !OF_ONE_FILE.includes(error.code)) throw error;
      await tellUnreadable(file.path, error, run);
    }
  }
  setExitCode(answered.length === 0 ? EXIT.unreadable : computeExitCode(answered, options));
}

/** The error codes that concern one file only. */
const OF_ONE_FILE: readonly string[] = ['invalid-input', 'too-large', 'unsupported-type', 'not-found'];

async function tellUnreadable(
  file: string,
  { code, message }: TriageError,
  { options, style }: TriageRun,
): Promise<void> {
  if (options.json === true) return await print(formatJson(formatUnreadable(code, message, file)));
  return await print(
    `${renderFileHead(file, style)}${style.color ? '' : 'Result\t'}${toVisibleLine(message)}\n`,
  );
}
