import { z } from 'zod';
import type { Evidence } from '../../domain/evidence.ts';
import type { Inquiry, PlaceTopic } from '../../ports/analyst.ts';

const DefinitionData = z.object({
  path: z.string(),
  name: z.string(),
  kind: z.string(),
  container: z.string().nullable(),
  line: z.int(),
  end: z.int(),
  comment: z.object({ lineStart: z.int(), lineEnd: z.int() }).nullable(),
});

/** A definition that find_definition brought. */
export interface DefinitionEvidence {
  readonly item: Evidence;
  readonly data: z.infer<typeof DefinitionData>;
}

/** Lists the definitions of a name among the evidence that this question's calls brought or named again. */
export function listDefinitionEvidence(input: Inquiry<PlaceTopic>, name: string): DefinitionEvidence[] {
  const lastName =
    name
      .replace(/!$/, '')
      .split(/::|[.#]/)
      .at(-1) ?? name;
  const found = listBroughtBy(input, 'find_definition').flatMap((item) => {
    const data = DefinitionData.safeParse(item.data).data;
    return data !== undefined && (data.name === lastName || data.name.endsWith(`::${lastName}`))
      ? [{ item, data }]
      : [];
  });
  // The constructors of a class are no other places where it is defined.
  const others = found.filter(({ data }) => data.container !== data.name);
  return others.length > 0 ? others : found;
}

/** Lists the evidence that the calls of a tool brought for this question, new or known. */
export function listBroughtBy({ outcomes, evidence }: Inquiry<PlaceTopic>, tool: string): Evidence[] {
  const ids = new Set(
    outcomes.filter(({ call }) => call.tool === tool).flatMap(({ evidence: brought = [] }) => brought),
  );
  return evidence.filter(({ id }) => ids.has(id));
}

/** Returns the text of one line of evidence; null if it does not hold it. */
export function getLine({ text, lineStart }: Evidence, line: number): string | null {
  if (lineStart === undefined) return null;
  return text.split('\n')[line - lineStart] ?? null;
}
