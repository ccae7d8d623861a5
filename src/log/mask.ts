import type { Automaton } from './aho-corasick.ts';
import { buildAutomaton } from './aho-corasick.ts';
import type { Masked } from './mask-shapes.ts';
import { maskShapes, SHAPE_LITERALS } from './mask-shapes.ts';
import { scanText } from './scan.ts';

/** Hides secrets. One masker may be used for any number of texts. */
export interface Masker {
  /** Replaces each secret by `***`. The number of lines never changes; what is masked already stays as it is. */
  mask(text: string): Promise<Masked>;
}

type Lint = (text: string) => Promise<readonly (readonly [number, number])[]>;

/** Literals without which none of secretlint's recommended rules can match; their lines are the only ones it is given. */
const VENDOR_LITERALS = [
  'akia',
  'asia',
  'aws',
  'ghp_',
  'gho_',
  'ghu_',
  'ghs_',
  'ghr_',
  'github_pat_',
  'glpat-',
  'gldt-',
  'glrt-',
  'xox',
  'hooks.slack.com',
  'npm_',
  '_authtoken',
  'sk-',
  'sk_live',
  'rk_live',
  'sg.',
  '-----begin',
  'private_key',
  'aiza',
  'dckr_',
  'shpat_',
  'shpss_',
  'shpca_',
  'shppa_',
  'lin_api_',
  'ops_',
  'hf_',
  '://',
  'mongodb',
  'postgres',
  'dop_v1',
  'doo_v1',
  'dor_v1',
  'figd_',
  'secret_',
  'ntn_',
  'gsk_',
  'eyj',
  'pscale_',
  'tfp_',
  'databricks',
  'dapi',
] as const; // prettier-ignore

const LITERALS = [...new Set<string>([...VENDOR_LITERALS, ...SHAPE_LITERALS])];
/** Lines handed to secretlint at once. */
const BATCH = 2_000;
/** The longest private key block, in lines. */
const MAX_KEY_LINES = 200;

/** Makes a masker. Secretlint is loaded when the first text holds something that could be a secret of its kind. */
export function createMasker(): Masker {
  let automaton: Automaton | undefined;
  let lint: Promise<Lint> | undefined;
  return {
    async mask(text) {
      automaton ??= buildAutomaton(LITERALS);
      const { starts, hits } = scanText(text, automaton);
      const edits = new Map<number, string>();
      const lines = new Set(hits.flat());
      if (lines.size === 0) return { text, count: 0 };
      const lineAt = (line: number) =>
        edits.get(line) ?? text.slice(starts[line - 1], line < starts.length ? (starts[line] ?? 0) - 1 : text.length);
      let count = maskKeyBlocks(hits[LITERALS.indexOf('-----begin')] ?? [], starts.length, lineAt, edits);
      for (const line of lines) count += edit(line, maskShapes(lineAt(line)), edits);
      const vendor = new Set(VENDOR_LITERALS.flatMap((_, id) => hits[id] ?? []));
      if (vendor.size > 0) {
        lint ??= loadSecretlint();
        count += await maskByRules(
          [...vendor].sort((a, b) => a - b),
          lineAt,
          edits,
          await lint,
        );
      }
      return { text: count === 0 ? text : apply(text, starts, edits), count };
    },
  };
}

function edit(line: number, masked: Masked, edits: Map<number, string>): number {
  if (masked.count > 0) edits.set(line, masked.text);
  return masked.count;
}

function maskKeyBlocks(begins: readonly number[], lineCount: number, lineAt: (line: number) => string, edits: Map<number, string>): number {
  let count = 0;
  for (const begin of begins) {
    if (!/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.test(lineAt(begin))) continue;
    count++;
    const last = Math.min(lineCount, begin + MAX_KEY_LINES);
    for (let line = begin + 1; line <= last && !lineAt(line).includes('-----END'); line++) edits.set(line, keepReturn(lineAt(line), '***'));
  }
  return count;
}

function keepReturn(line: string, replacement: string): string {
  return line.endsWith('\r') ? `${replacement}\r` : replacement;
}

async function maskByRules(
  lines: readonly number[],
  lineAt: (line: number) => string,
  edits: Map<number, string>,
  lint: Lint,
): Promise<number> {
  let count = 0;
  for (let from = 0; from < lines.length; from += BATCH) {
    const batch = lines.slice(from, from + BATCH);
    for (const [index, ranges] of rangesByLine(batch.map(lineAt), await lint(batch.map(lineAt).join('\n')))) {
      const line = batch[index] ?? 0;
      edits.set(line, cutRanges(lineAt(line), ranges));
      count += ranges.length;
    }
  }
  return count;
}

function rangesByLine(texts: readonly string[], ranges: readonly (readonly [number, number])[]): Map<number, [number, number][]> {
  const byLine = new Map<number, [number, number][]>();
  let start = 0;
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  for (const [index, text] of texts.entries()) {
    const end = start + text.length;
    for (const [from, to] of sorted) {
      if (from > end) break;
      if (to <= start) continue;
      const local: [number, number] = [Math.max(0, from - start), Math.min(text.length, to - start)];
      if (local[1] > local[0]) byLine.set(index, [...(byLine.get(index) ?? []), local]);
    }
    start = end + 1;
  }
  return byLine;
}

function cutRanges(text: string, ranges: readonly (readonly [number, number])[]): string {
  let out = '';
  let at = 0;
  for (const [from, to] of ranges) {
    if (to <= at) continue;
    out += `${text.slice(at, Math.max(at, from))}***`;
    at = to;
  }
  return out + text.slice(at);
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
    return result.messages.map(({ range }) => [range[0], range[1]] as const);
  };
}

function apply(text: string, starts: Uint32Array, edits: ReadonlyMap<number, string>): string {
  const parts: string[] = [];
  let at = 0;
  for (const line of [...edits.keys()].sort((a, b) => a - b)) {
    const start = starts[line - 1] ?? 0;
    parts.push(text.slice(at, start), edits.get(line) ?? '');
    at = line < starts.length ? (starts[line] ?? 0) - 1 : text.length;
  }
  parts.push(text.slice(at));
  return parts.join('');
}
