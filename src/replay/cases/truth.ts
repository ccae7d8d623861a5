import { z } from 'zod';
import { messageOf } from '../../domain/errors.ts';
import { DatasetRow } from './row.ts';
import { problemOf } from './row-problem.ts';

/** What is known to be true of a log that lies in a folder: a row without its id and its log. */
export type Truth = Omit<DatasetRow, 'id' | 'log' | 'log_path' | 'pass_log_path' | 'stack_trace' | 'snippets'>;

/** Other names of a row's fields, as the truth files of captured failures write them. */
const ALIASES: Readonly<Record<string, string>> = {
  alsoOk: 'also_ok',
  cause: 'root_cause',
  rootCause: 'root_cause',
  mustCite: 'expected_lines',
  expectedLines: 'expected_lines',
  failingTests: 'failing_tests',
  faultyFiles: 'faulty_files',
  requiredMentions: 'required_mentions',
  forbiddenMentions: 'forbidden_mentions',
  capturedAt: 'happened_at',
  happenedAt: 'happened_at',
  decidedBy: 'decided_by',
};

const TestName = z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]);

const TruthFile = DatasetRow.omit({ id: true, log: true, log_path: true, pass_log_path: true, stack_trace: true, snippets: true }).extend({
  failing_tests: z.array(TestName).nullish(),
});

/** Reads a truth file: the fields of a row, in their own names or in those of captured failures; others are ignored. Or says what is wrong. */
export function parseTruth(name: string, text: string): Truth | { readonly error: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { error: `${name} is not JSON: ${messageOf(error)}` };
  }
  const held = z.record(z.string(), z.unknown()).safeParse(value);
  if (!held.success) return { error: `${name} is not a JSON object` };
  const written = new Map<string, string>();
  const fields = Object.entries(held.data).map(([key, value]): [string, unknown] => {
    const field = ALIASES[key] ?? key;
    written.set(field, key);
    return [field, value];
  });
  const parsed = TruthFile.safeParse(Object.fromEntries(fields));
  if (parsed.success) return parsed.data;
  const { path, reason } = problemOf(parsed.error, Object.fromEntries(fields));
  const [field = '', ...rest] = path.split('.');
  return { error: `${name}, field ${[written.get(field) ?? field, ...rest].join('.')}: ${reason}` };
}
