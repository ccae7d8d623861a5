import type { LogBytes } from '../lines/log-bytes.ts';
import { MIN_FORM } from './forms.ts';
import { isDistinctive } from './judge.ts';
import { findKeyBlock, KEY_BLOCK_LITERALS } from './key-blocks.ts';
import { createKnownFinder } from './known.ts';
import { maskPieces } from './pieces.ts';
import { createPseudonyms, type PseudonymOptions, type Pseudonyms } from './pseudonyms.ts';
import { type Candidate, createScan } from './scan.ts';
import { findShapes, SHAPES } from './shapes.ts';
import { hideSpans, type Masked, mergeSpans, type Span } from './span.ts';
import { findModelKeys, findTokens } from './tokens.ts';
import { findByVendors, type Suspect, suspectsIn, VENDOR_LITERALS } from './vendor.ts';
import { findWrapped } from './wrapped.ts';

export type { Masked } from './span.ts';

/** Hides secrets. One masker may be used for any number of texts and runs. */
export interface Masker {
  /** Replaces each secret by `***`. The number of lines never changes; what is masked already stays as it is. */
  mask(text: string): Promise<Masked>;
  /**
   * The same for all texts of one run: what is found in one of them is hidden in every other too, also in base64, hex,
   * URL-encoded, escaped, or broken over lines. Nothing found is remembered afterwards. One result for each text, in order.
   * Where e-mail addresses or hosts are hidden, they have one name throughout the run, and who gives the `names` can put
   * them back; in a text masked alone they are all called `<EMAIL>` and `<HOST>`.
   */
  maskAll(texts: readonly string[], names?: Pseudonyms): Promise<Masked[]>;
  /** The same for one log that need not be in memory: see {@link maskPieces}. */
  maskPieces(log: LogBytes, write: (piece: Buffer) => void): Promise<number>;
}

export interface MaskerOptions {
  /** E-mail addresses and private hosts that get a numbered name, where wanted. */
  readonly names?: PseudonymOptions;
  /**
   * Secrets known beforehand, such as the process's own: hidden wherever they stand. Less than 8 characters, or one short
   * word, cannot be: they would be hidden inside of words.
   */
  readonly known?: readonly string[];
}

/** What stands behind secrets that run into one another is seen once the first of them is hidden: a text alone is masked until nothing changes. */
const MAX_PASSES = 4;
const KEY_BLOCKS = 1 << SHAPES.length;
const VENDORS = 1 << (SHAPES.length + 1);
const TOKENS = SHAPES.reduce((bits, { find }, at) => (find === findTokens || find === findModelKeys ? bits | (1 << at) : bits), 0);

/** Makes a masker. Secretlint is loaded when the first text holds something that could be a secret of its kind. */
export function createMasker(options: MaskerOptions = {}): Masker {
  const known = new Set((options.known ?? []).filter(isWorthHiding));
  const findConfigured = createKnownFinder(known);
  const finderOf = (seen: ReadonlySet<string>) => {
    const spread = [...seen].filter((secret) => secret.length <= MAX_SPREAD && isDistinctive(secret));
    return spread.length === 0 ? findConfigured : createKnownFinder([...known, ...spread]);
  };
  const maskRun = async (texts: readonly string[], names: Pseudonyms | null): Promise<Masked[]> => {
    const found: Span[][] = [];
    const seen = new Set<string>();
    for (const text of texts) {
      const spans = await findSecrets(text);
      for (const { from, to } of spans) seen.add(text.slice(from, to));
      found.push(spans);
    }
    const findKnown = finderOf(seen);
    return texts.map((text, at) => {
      const { text: masked, count } = hideSpans(text, mergeSpans([...(found[at] ?? []), ...(findKnown?.(text) ?? [])]));
      return { text: names === null ? masked : names.hide(masked), count };
    });
  };
  const maskAlone = async (text: string) => (await maskRun([text], namesOf(false)))[0] ?? { text, count: 0 };
  const namesOf = (numbered: boolean) => (hidesNames(options.names) ? createPseudonyms({ ...options.names, numbered }) : null);
  return {
    mask: async (text) => {
      let masked = await maskAlone(text);
      for (let pass = 1; pass < MAX_PASSES && masked.count > 0; pass++) {
        const again = await maskAlone(masked.text);
        if (again.text === masked.text) break;
        masked = { text: again.text, count: masked.count + again.count };
      }
      return masked;
    },
    maskAll: (texts, names) => maskRun(texts, names ?? namesOf(true)),
    maskPieces: (log, write) => maskPieces(log, { find: findSecrets, known: finderOf, names: namesOf(true) }, write),
  };
}

/** Long enough, and not a word that any log may say. */
function isWorthHiding(secret: string): boolean {
  return secret.length >= MIN_FORM && !/^(?:[a-z]{1,11}|[A-Z]{1,11})$/.test(secret);
}

function hidesNames(names: PseudonymOptions | undefined): names is PseudonymOptions {
  return names !== undefined && (names.emails || names.hosts);
}

/** A longer value is a file and not a secret; it is hidden where it stands. */
const MAX_SPREAD = 4_096;
/** Made once: it depends on nothing but the shapes. */
let scan: ReturnType<typeof createScan> | undefined;

/** What shapes and rules see in one text by itself. */
async function findSecrets(text: string, bytes?: Buffer): Promise<Span[]> {
  scan ??= createScan([...SHAPES.map(({ literals }) => literals), KEY_BLOCK_LITERALS, VENDOR_LITERALS]);
  const spans: Span[] = [];
  const suspects: Suspect[] = [];
  const look: Candidate = (from, to, groups) => {
    const line = text.slice(from, to);
    for (const span of findShapes(line, groups)) spans.push(shifted(span, from));
    if ((groups & KEY_BLOCKS) !== 0) spans.push(...inKeyBlock(text, line, from, to));
    if ((groups & VENDORS) !== 0) suspects.push(...suspectsIn(line, from));
    if ((groups & TOKENS) !== 0 && to < text.length) spans.push(...acrossLines(text, line, from, to));
  };
  scan(text, look, bytes);
  return mergeSpans([...spans, ...(await findByVendors(suspects))]);
}

function acrossLines(text: string, line: string, from: number, to: number): Span[] {
  const { here, there } = findWrapped(line, text.slice(to + 1, endOfLine(text, to + 1)));
  return [...here.map((span) => shifted(span, from)), ...there.map((span) => shifted(span, to + 1))];
}

function inKeyBlock(text: string, line: string, from: number, to: number): Span[] {
  const starts = [from];
  let end = to;
  const startOf = (wanted: number): number | null => {
    while (starts.length <= wanted) {
      if (end >= text.length) return null;
      starts.push(end + 1);
      end = endOfLine(text, end + 1);
    }
    return starts[wanted] ?? null;
  };
  const next = (after: number) => {
    const start = startOf(after);
    return start === null ? null : text.slice(start, endOfLine(text, start));
  };
  return findKeyBlock(line, next).flatMap((found) => found.spans.map((span) => shifted(span, startOf(found.line) ?? from)));
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function shifted({ from, to }: Span, by: number): Span {
  return { from: from + by, to: to + by };
}
