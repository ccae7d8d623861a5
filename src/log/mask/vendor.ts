import { append } from '../../domain/lists.ts';
import { type Span, withoutColors } from './span.ts';

/** Literals of the secretlint rules that our own shapes do not cover. */
export const VENDOR_LITERALS: readonly string[] = [
  ...['shpat_', 'shpss_', 'shpca_', 'shppa_', 'lin_api_', 'ops_ey', 'hf_', 'ntn_', 'secret_', 'gsk_', 'glc_', 'glsa_'],
  ...['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_', 'dapi', 'figd_', 'sg.', 't3blbkfj', 'xoxb-', 'xoxp-'],
];

/** A literal with enough behind it to be a token: few lines have it, and only what is around it goes to the rules. */
const GATE =
  /(?<![A-Za-z0-9])(?:shp(?:at|ss|ca|pa)_|lin_api_|ops_ey|hf_|ntn_|secret_|gsk_|glc_|glsa_|vc[piark]_|dapi|figd_|SG\.|xox[bp]-|sk-)[\w+/=.-]{16}/g;
const BEFORE = 40;
const AFTER = 1_500;
/** Characters handed to the rules at once. */
const BATCH = 200_000;

/** A piece of a line that may hold a token of a vendor, and where in the line it begins. */
export interface Suspect {
  readonly from: number;
  readonly text: string;
}

/** The pieces of a line worth asking secretlint about. */
export function suspectsIn(line: string): Suspect[] {
  const suspects: Suspect[] = [];
  let end = 0;
  const plain = withoutColors(line);
  for (const { index } of plain.matchAll(GATE)) {
    if (index < end) continue;
    const start = Math.max(end, index - BEFORE);
    end = Math.min(line.length, index + AFTER);
    suspects.push({ from: start, text: plain.slice(start, end) });
  }
  return suspects;
}

type Lint = (text: string) => Promise<readonly Span[]>;
let loaded: Promise<Lint> | undefined;

/** Asks secretlint's recommended rules about the pieces: for each, the spans in its line. They are loaded when the first piece comes. */
export async function findByVendors(suspects: readonly Suspect[]): Promise<Span[][]> {
  if (suspects.length === 0) return [];
  loaded ??= loadSecretlint();
  const lint = await loaded;
  const spans: Span[][] = [];
  for (let at = 0; at < suspects.length; ) {
    const batch: Suspect[] = [];
    for (let size = 0; at < suspects.length && size < BATCH; at++) {
      const suspect = suspects[at];
      if (suspect === undefined) break;
      batch.push(suspect);
      size += suspect.text.length;
    }
    append(spans, inPieces(batch, await lint(batch.map(({ text }) => text).join('\n'))));
  }
  return spans;
}

function inPieces(batch: readonly Suspect[], found: readonly Span[]): Span[][] {
  const sorted = found.toSorted((a, b) => a.from - b.from);
  let start = 0;
  let first = 0;
  return batch.map(({ from, text }) => {
    const spans: Span[] = [];
    const end = start + text.length;
    while ((sorted[first]?.to ?? Number.POSITIVE_INFINITY) <= start) first++;
    for (let at = first; at < sorted.length; at++) {
      const span = sorted[at];
      if (span === undefined || span.from >= end) break;
      const [low, high] = [Math.max(span.from, start), Math.min(span.to, end)];
      if (high > low && !text.slice(low - start, high - start).includes('***'))
        spans.push({ from: from + low - start, to: from + high - start });
    }
    start = end + 1;
    return spans;
  });
}

async function loadSecretlint(): Promise<Lint> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const config = { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, rules: [] }] };
  return async (text) => {
    // A log must not switch the rules off by quoting secretlint's own comment directives; the stand-in has the same length.
    const content = text.replaceAll('secretlint-', 'secretlint_');
    const result = await lintSource({
      source: { filePath: 'ci.log', content, ext: '.log', contentType: 'text' },
      options: { config, noPhysicFilePath: true },
    });
    return result.messages.map(({ range }) => ({ from: range[0], to: range[1] }));
  };
}
