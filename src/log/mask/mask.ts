import { type LogBytes, toLogBytes } from '../lines/bytes.ts';
import { BEYOND, type FellowReader, findPieceEnd, findSecrets, PIECE } from './find-secrets.ts';
import {
  createKnownFinder,
  createPseudonyms,
  type FindKnown,
  MAX_SECRETS,
  MIN_FORM,
  type PseudonymOptions,
  type Pseudonyms,
} from './known.ts';
import { createOwnSecretFinder } from './own-secrets.ts';
import { hideSpans, type Masked, mergeSpans, type Span, type SpanList } from './span.ts';
import { hideInReport, replaceNames } from './structured.ts';

export type { Masked } from './span.ts';

/** Hides secrets. One masker may be used for any number of texts and runs. */
export interface Masker {
  /**
   * Replaces each secret by `***`. The number of lines does not change, and text that is masked already
   * stays. Markup of XML and JSON reports is not hidden, so that they can still be parsed.
   */
  mask(text: string): Promise<Masked>;
  /**
   * Masks all texts of one run. A secret that is found in one of them is hidden in every other, also in
   * base64, hex, URL-encoded, escaped, or broken over lines. The secrets are not kept afterwards. Returns one
   * result for each text, in order. If e-mail addresses or hosts are hidden, each has one name in all texts,
   * and a caller that provides `names` can restore them. In a text that is masked alone, all are called
   * `<EMAIL>` and `<HOST>`.
   */
  maskAll(texts: readonly string[], names?: Pseudonyms): Promise<Masked[]>;
  /**
   * Masks one log in two passes without loading it into memory: a secret that is found on any line is hidden
   * on every line. Calls `write` with each piece of the masked log, in UTF-8; the piece is valid until
   * `write` returns. If there is nothing to hide, `write` is not called, and what `fellow` received in the
   * first pass is also valid for the masked log. Resolves to the number of hidden places.
   */
  maskPieces(log: LogBytes, write: (piece: Buffer) => void, fellow?: FellowReader): Promise<number>;
}

export interface MaskerOptions {
  /** The e-mail addresses and private hosts to replace by numbered names. If absent, none are replaced. */
  readonly names?: PseudonymOptions;
  /**
   * Secrets known beforehand, such as the process's own, which are hidden everywhere. Secrets of less than 8
   * characters and single short words are not, because they occur inside other words.
   */
  readonly known?: readonly string[];
  /**
   * Known secrets that callers send to this server: webhook secrets and tokens. A log that contains one
   * exposes it to its readers.
   */
  readonly own?: readonly string[];
}

/**
 * The maximum number of passes over a text that is masked alone. If two secrets adjoin, the second one may be
 * recognized only after the first one is hidden, so masking is repeated until nothing changes.
 */
const MAX_PASSES = 4;

/** Creates a masker. */
export function createMasker(options: MaskerOptions = {}): Masker {
  const known = new Set((options.known ?? []).filter(isWorthHiding));
  const findConfigured = createKnownFinder(known);
  const findOwn = createOwnSecretFinder((options.own ?? []).filter(isWorthHiding));
  const buildFinder = (seen: ReadonlySet<string>) =>
    seen.size === 0 ? findConfigured : createKnownFinder([...known, ...seen]);
  const createNames = (numbered: boolean) =>
    hidesNames(options.names) ? createPseudonyms({ ...options.names, numbered }) : null;
  const maskRun = async (texts: readonly string[], names: Pseudonyms | null): Promise<Masked[]> => {
    const found: (readonly Span[])[] = [];
    const seen = new Set<string>();
    for (const text of texts) {
      const { spans, secrets } = findSecrets(toLogBytes(text));
      for (const secret of secrets) if (seen.size < MAX_SECRETS) seen.add(secret);
      found.push(
        spans.count === 0
          ? []
          : toCharacterSpans(spans.overlapping(0, Number.POSITIVE_INFINITY), text, Buffer.from(text)),
      );
    }
    const findKnown = buildFinder(seen);
    return texts.map((text, at) => {
      const spans = [...(found[at] ?? []), ...(findKnown?.(text) ?? [])];
      const { text: masked, count } = hideInReport(text, spans) ?? hideSpans(text, mergeSpans(spans));
      const ownValues = count === 0 ? [] : findOwn(text);
      return {
        text: names === null ? masked : replaceNames(names.hide(masked)),
        count,
        ...(ownValues.length > 0 && { own: ownValues }),
      };
    });
  };
  const maskAlone = async (text: string) =>
    (await maskRun([text], createNames(false)))[0] ?? { text, count: 0 };
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
    maskAll: (texts, names) => maskRun(texts, names ?? createNames(true)),
    maskPieces: async (log, write, fellow) => {
      const { spans, secrets } = findSecrets(log, fellow);
      const findKnown = buildFinder(secrets);
      const names = createNames(true);
      if (spans.count === 0 && findKnown === null && names === null) return 0;
      return hidePieces(log, spans, findKnown, names, write);
    },
  };
}

/** Checks whether a secret is long enough and not an ordinary word that any log may contain. */
function isWorthHiding(secret: string): boolean {
  return secret.length >= MIN_FORM && !/^(?:[a-z]{1,11}|[A-Z]{1,11})$/.test(secret);
}

function hidesNames(names: PseudonymOptions | undefined): names is PseudonymOptions {
  return names !== undefined && (names.emails || names.hosts);
}

/**
 * Runs the second pass, over groups of whole lines. Pieces are short, because long strings would be garbage
 * collected late.
 */
function hidePieces(
  log: LogBytes,
  found: SpanList,
  findKnown: FindKnown | null,
  names: Pseudonyms | null,
  write: (piece: Buffer) => void,
): number {
  let count = 0;
  let carried: Span[] = [];
  for (let start = 0; start < log.size; ) {
    const wide = log.slice(start, start + PIECE + BEYOND);
    // The file was truncated while it is read.
    if (wide.length === 0) return count;
    const piece = wide.subarray(0, wide.length <= PIECE ? wide.length : findPieceEnd(wide));
    const text = piece.toString('utf8');
    const here = toCharacterSpans(found.overlapping(start, start + piece.length), text, piece);
    const spans = mergeSpans([...carried, ...here, ...(findKnown?.(wide.toString('utf8')) ?? [])]);
    carried = spans
      .filter(({ to }) => to > text.length)
      .map(({ from, to }) => ({ from: Math.max(0, from - text.length), to: to - text.length }));
    const hidden = hideSpans(
      text,
      spans
        .filter(({ from }) => from < text.length)
        .map(({ from, to }) => ({ from, to: Math.min(to, text.length) })),
    );
    count += hidden.count;
    start += piece.length;
    write(Buffer.from(names === null ? hidden.text : names.hide(hidden.text)));
  }
  return count;
}

/** Converts spans in a text's bytes to spans in its characters. The spans must ascend. */
function toCharacterSpans(spans: readonly Span[], text: string, bytes: Buffer): readonly Span[] {
  if (bytes.length === text.length) return spans;
  let [byte, character] = [0, 0];
  const place = (to: number) => {
    character += bytes.toString('utf8', byte, to).length;
    byte = to;
    return character;
  };
  return spans.map(({ from, to }) => ({ from: place(from), to: place(to) }));
}
