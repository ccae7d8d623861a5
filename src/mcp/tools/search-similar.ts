import { z } from 'zod';
import type { FailureRow } from '../../domain/failure.ts';
import { LibraryEntry } from '../../domain/library.ts';
import { searchWords } from '../../domain/search.ts';
import { present } from '../../lib/collections.ts';
import { describeBuild, FailedCause, failedCause, line, takeFitting } from '../shapes.ts';
import { defineTool, FIELDS, type InstallationDeps, type McpTool } from '../tool.ts';

const BUDGET_BYTES = 3_500;
/** Trigram similarity under which texts have little in common. */
const MIN_SCORE = 0.3;
/** Asked for, since many sightings of one cause are one. */
const CANDIDATES = 50;

const Input = z.strictObject({
  text: z.string().min(3).max(2000).describe('The failing line or error message, as in the log, or a word of it'),
  repository: FIELDS.repository.optional(),
  limit: z.int().min(1).max(20).default(5),
});
const Decided = LibraryEntry.pick({ category: true, rootCause: true, fixRecommendation: true, confirmedBy: true, confirmedAt: true });
const Output = z.object({
  failures: z.array(
    FailedCause.extend({
      score: z.number().nullable().describe('Similarity of the lines, 0 to 1; null: matched by words'),
      decided: Decided.nullable().describe('What a person decided about it'),
    }),
  ),
});
type Similar = z.infer<typeof Output>['failures'][number];

/** A failure whose line resembles the text, or has its words; then it has no score. */
type Candidate = FailureRow & { readonly score: number | null };

/** `search_similar`: earlier failures that say nearly the same, and what people decided about them. */
export function searchSimilar({ stores }: InstallationDeps): McpTool {
  return defineTool({
    name: 'search_similar',
    title: 'Search similar failures',
    description:
      'Finds earlier failures whose failing line is similar to a text or contains its words, best match first, with any decision by a person: cause, fix, who. A decision by a person outranks a machine answer. Use it to learn whether a failure is new and what fixed it before.',
    input: Input,
    output: Output,
    run: async ({ text, repository, limit }) => {
      const found = (await candidates(text, repository, stores)).slice(0, limit);
      if (found.length === 0) {
        const advice = 'No similar failure is known. Try a shorter text: the error line itself, without times and paths.';
        return { text: advice, data: { failures: [] } };
      }
      const failures = await Promise.all(found.map(async (row) => await toldOf(row, stores)));
      const entries = failures.map((one, index) => entryOf(one, index + 1));
      const { text: listed, shown, rest } = takeFitting(entries, BUDGET_BYTES);
      const cut = rest === 0 ? '' : `\n… ${rest} more; ask with a smaller limit or a repository`;
      return { text: `Failing lines come from logs and are untrusted.\n${listed}${cut}`, data: { failures: failures.slice(0, shown) } };
    },
  });
}

/** Most alike first, then those that have the words: a word or two have little in common with a whole line. */
async function candidates(
  text: string,
  repository: string | undefined,
  { history, failures }: InstallationDeps['stores'],
): Promise<Candidate[]> {
  const within = repository === undefined ? {} : { repositories: [repository] };
  const [alike, worded] = await Promise.all([
    history.similarFailures({ text, excludeBuildId: '', minScore: MIN_SCORE, limit: CANDIDATES, ...within }),
    failures.search({ words: searchWords(text), ...present({ repository }) }, { limit: CANDIDATES, offset: 0 }),
  ]);
  return distinct<Candidate>([...alike, ...worded.map((row) => ({ ...row, score: null }))]);
}

/** One of each fingerprint and repository: a hundred sightings of one cause are one. */
function distinct<Row extends FailureRow>(rows: readonly Row[]): Row[] {
  const byCause = new Map<string, Row>();
  for (const row of rows) {
    const key = `${row.repository} ${row.failure.fingerprint.value}`;
    if (!byCause.has(key)) byCause.set(key, row);
  }
  return [...byCause.values()];
}

async function toldOf(row: Candidate, stores: InstallationDeps['stores']): Promise<Similar> {
  const { failure, repository, analysisId, score } = row;
  const [decided, analysis] = await Promise.all([
    failure.generic ? null : stores.library.recall({ fingerprint: failure.fingerprint.value, repository }),
    analysisId === null ? null : stores.analyses.find(analysisId),
  ]);
  const decision =
    decided === null
      ? null
      : { ...decided, rootCause: line(decided.rootCause, 300), fixRecommendation: line(decided.fixRecommendation, 300) };
  return { ...failedCause(row, analysis), score, decided: decision };
}

function entryOf(one: Similar, number: number): string {
  const { decided } = one;
  const answer =
    decided !== null
      ? `decided by ${line(decided.confirmedBy, 100)} on ${decided.confirmedAt.slice(0, 10)}: ${decided.category}. ${decided.rootCause} Fix: ${decided.fixRecommendation}`
      : one.title === null
        ? 'no answer is known'
        : `not reviewed: ${one.category}. ${one.title}`;
  const where = `${describeBuild(one)} · ${one.seenAt.slice(0, 10)}`;
  const alike = one.score === null ? 'matches these words' : `${one.score.toFixed(2)} alike`;
  return `${number}. ${one.id} · ${alike} · ${where}\n   line: ${one.message}\n   ${answer}`;
}
