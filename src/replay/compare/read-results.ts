import { stat } from 'node:fs/promises';
import { CATEGORIES } from '../../domain/category.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { numberedLines } from '../cases/numbered-lines.ts';
import type { CaseResult } from '../run/result.ts';
import { ResultLine } from '../run/result-line.ts';

/** One run of a set of cases, as its results file tells it. */
export interface RunResults {
  readonly path: string;
  /** By id, in the file's order. */
  readonly results: ReadonlyMap<string, CaseResult>;
}

/** Reads what `replay --out` wrote. Throws with the file and the line: a comparison of half a file would be one of other cases. */
export async function readResults(path: string): Promise<RunResults> {
  if (!(await isFile(path))) throw new TriageError('not-found', `${path} does not exist.`);
  const results = new Map<string, CaseResult>();
  const lines = new Map<string, number>();
  for await (const { line, text } of numberedLines(path)) {
    const result = readLine(text, `${path}, line ${line}`);
    const { id } = result;
    const earlier = lines.get(id);
    if (earlier !== undefined)
      throw new TriageError('invalid-input', `${path}, line ${line}: the case ${id} was already on line ${earlier}.`);
    lines.set(id, line);
    results.set(id, result);
  }
  if (results.size === 0) throw new TriageError('invalid-input', `${path} contains no results.`);
  return { path, results };
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

function readLine(text: string | null, where: string): CaseResult {
  if (text === null) throw new TriageError('invalid-input', `${where} is too long to be a result.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const message = `${where} is not JSON: ${messageOf(cause)}. Was the run that wrote it interrupted?`;
    throw new TriageError('invalid-input', message, { cause });
  }
  const parsed = ResultLine.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new TriageError('invalid-input', `${where}, field ${issue?.path.join('.') || '(row)'}: ${issue?.message}`);
  }
  const { category } = parsed.data;
  if (category !== null && !CATEGORIES.some((known) => known === category))
    throw new TriageError('invalid-input', `${where}, field category: ${category} is not one of ${CATEGORIES.join(', ')}.`);
  return withoutTexts(parsed.data);
}

/** A hundred thousand results must fit in memory, several times over. */
function withoutTexts(result: CaseResult): CaseResult {
  const excerpts = result.excerpts.map((excerpt) => ({ ...excerpt, text: '', reason: '' }));
  return { ...result, excerpts, messages: [], claims: [], failingTests: [], rootCause: null, fixRecommendation: null };
}
