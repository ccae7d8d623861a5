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
   * Replaces each secret by `***`. The number of lines never changes; what is masked already stays as it is.
   * A report of XML or JSON can still be read: markup is never hidden.
   */
  mask(text: string): Promise<Masked>;
  /**
   * Masks all texts of one run: what is found in one of them is hidden in every other too, also in base64,
   * hex, URL-encoded, escaped, or broken over lines. Nothing found is remembered afterwards. Returns one
   * result for each text, in order. If e-mail addresses or hosts are hidden, they have the same name
   * throughout the run, and the caller who provides `names` can restore them; in a text masked alone they are
   * all called `<EMAIL>` and `<HOST>`.
   */
  maskAll(texts: readonly string[], names?: Pseudonyms): Promise<Masked[]>;
  /**
   * Masks one log that need not be in memory, in two passes: what is found on any line is hidden on every
   * line. `write` gets the masked log piece by piece, in UTF-8, valid until it returns. If there is nothing
   * to hide, it gets nothing, and what `fellow` received in the first pass is also valid for the masked log.
   * Resolves to the number of places hidden.
   */
  maskPieces(log: LogBytes, write: (piece: Buffer) => void, fellow?: FellowReader): Promise<number>;
}

export interface MaskerOptions {
  /** E-mail addresses and private hosts that get a numbered name, where wanted. */
  readonly names?: PseudonymOptions;
  /**
   * Secrets known beforehand, such as the process's own: hidden wherever they stand. Less than 8 characters,
   * or one short word, cannot be: they would be hidden inside of words.
   */
  readonly known?: readonly string[];
  /**
   * Those of them that senders show to us: webhook secrets and tokens. A log that shows one gives it to its
   * readers.
   */
  readonly own?: readonly string[];
}

/**
 * Limit on the passes over a text that is masked alone. If secrets run into one another, the second is
 * recognized only after the first is hidden, so a text is masked until nothing changes.
 */
const MAX_PASSES = 4;

/** Makes a masker. */
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
 * Runs the second pass, over whole lines at once if there are any. A longer string would outlive the young
 * generation and be garbage collected late.
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
    // A file that was cut while it is read: what is missing never comes.
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

/** Spans in a text's bytes, ascending, as spans in its characters. */
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
