import type { Masker } from '../../log/mask/mask.ts';
import type { CaseTexts } from './case.ts';
import { DatasetRow } from './row.ts';

/** A case as it may be handed on: what is known of it, and its texts, with every secret hidden. */
export interface MaskedCase {
  readonly row: DatasetRow;
  /** Names of what is true never show what is hidden in the log: they are masked with it. */
  readonly texts: readonly string[];
  readonly greenText: string | undefined;
  readonly secrets: number;
  /** The id itself held something to hide: what is called so cannot be handed on. */
  readonly idHidden: boolean;
}

const WORDS = ['project', 'source', 'group', 'step', 'root_cause', 'fix', 'decided_by'] as const;
const LISTS = ['failing_tests', 'faulty_files', 'required_mentions', 'forbidden_mentions'] as const;

/** Masks the log, the green log and every free text of the row as one run: what is found in one is hidden in all, with one name. */
export async function maskCase(row: DatasetRow, { sources, greenText }: CaseTexts, masker: Pick<Masker, 'maskAll'>): Promise<MaskedCase> {
  const words = WORDS.map((field) => row[field] ?? '');
  const lists = LISTS.map((field) => row[field] ?? []);
  const logs = [...sources.map(({ text }) => text), greenText ?? ''];
  const masked = await masker.maskAll([...logs, row.id, ...words, ...lists.flat()]);
  const texts = masked.map(({ text }) => text);
  const take = (count: number) => texts.splice(0, count);
  const [held, green, [id]] = [take(sources.length), take(1)[0], take(1)];
  const labels = Object.fromEntries([
    ...WORDS.map((field) => [field, take(1)[0]] as const).filter(([field]) => row[field] != null),
    ...LISTS.map((field, at) => [field, take(lists[at]?.length ?? 0)] as const).filter(([field]) => row[field] != null),
  ]);
  return {
    // Parsed again, so that its fields stand in one order whatever the case came from.
    row: DatasetRow.parse({ ...row, ...labels }),
    texts: held,
    greenText: greenText === undefined ? undefined : green,
    secrets: masked.reduce((sum, { count }) => sum + count, 0),
    idHidden: id !== row.id,
  };
}
