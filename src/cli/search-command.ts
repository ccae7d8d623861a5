import { nameCategory } from '../domain/category-words.ts';
import { FailureRow } from '../domain/failure.ts';
import { toVisibleLine } from '../notifications/visible-text.ts';
import { createListSchema } from '../ports/database.ts';
import { resolveService, type ServerOptions } from './command-parts.ts';
import { askServer } from './server-client.ts';
import { formatJson, print } from './terminal.ts';

const MOST = 200;
const Found = createListSchema(FailureRow);

/**
 * Runs `faultline search QUERY`: prints one line per failure, newest first. An invalid query is rejected with
 * the valid forms.
 */
export async function runSearch(
  query: string,
  options: ServerOptions & { readonly limit: number },
): Promise<void> {
  const asked = new URLSearchParams({ q: query, limit: String(Math.min(options.limit, MOST)) });
  const { items, next } = await askServer(
    await resolveService(options),
    'GET',
    `/api/failures?${asked}`,
    Found,
  );
  if (options.json) return print(formatJson({ ok: true, items, next }));
  if (items.length === 0) return print('No failure matches.');
  const more = next === null ? [] : [`… more; narrow the search, or use --limit (${MOST} at most).`];
  return print([...items.map(formatRow), ...more].join('\n'));
}

function formatRow({
  failure,
  repository,
  pipeline,
  number,
  category,
  analysisId,
  seenAt,
}: FailureRow): string {
  const name = failure.test?.name ?? failure.message.split('\n')[0] ?? '';
  const when = seenAt.slice(0, 16).replace('T', ' ');
  const words = (category === null ? 'Not analyzed' : nameCategory(category)).padEnd(16);
  const place = toVisibleLine(`${repository} ${pipeline} #${number}`);
  const id = analysisId ?? failure.buildId;
  return `${id}  ${when}  ${words}  ${place}  ${toVisibleLine(name.slice(0, 160))}`;
}
