import type { Act } from '../domain/analysis.ts';

/**
 * The distance of a value from the deciding line: on it, in its paragraph, or elsewhere in the failed step.
 */
export type Nearness = 'line' | 'paragraph' | 'step';

/** A text from the log that a sentence may contain, with its line. */
export interface Value {
  readonly text: string;
  readonly source: string | null;
  readonly line: number | null;
  readonly near: Nearness;
}

/** Returns the value of a slot, or null if the log does not contain it. */
export type FindValue = (slot: string) => Value | null;

/**
 * A text with slots: "`{command}` needs Node {required}." It is used only if all its slots have values.
 * `{login?}` must have a value but is not printed. A function receives the values as text; it is used for the
 * few sentences that choose between words.
 */
export type Sentence = string | ((read: (slot: string) => string | null) => string | null);

/** One sentence, or several from the most specific to the most general one. */
export type Sentences = Sentence | readonly Sentence[];

/** A piece of advice: the kind of act that it asks for, and the sentence. */
export type Fix = readonly [act: Act, sentence: Sentence];

/** The sentences of a rule or kind, and the patterns that fill them. */
export interface Wording {
  /**
   * Patterns whose named groups fill slots. They are matched on the deciding line, then in its paragraph,
   * then in the failed step.
   */
  readonly reads?: readonly RegExp[];
  /** The headline, at most 80 characters when filled. */
  readonly title?: Sentences;
  /** The cause: what was attempted, what refused it, and the values. */
  readonly cause?: Sentences;
  /** Advice, most specific first. Omit it rather than guess. */
  readonly fix?: readonly Fix[];
}

/** A sentence with all its slots filled. */
export interface Filled {
  readonly text: string;
  /** The values that were read to fill it, each with its line. */
  readonly values: readonly Value[];
}

/** A slot. With a question mark, it must have a value but is not printed. */
const SLOT = /\{(\w{1,30})(\??)\}/g;

/** Fills the first sentence whose slots all have values. Returns null if there is none. */
export function fillFirstComplete(sentences: Sentences | undefined, find: FindValue): Filled | null {
  if (sentences === undefined) return null;
  const list = Array.isArray(sentences) ? (sentences as readonly Sentence[]) : [sentences as Sentence];
  for (const sentence of list) {
    const filled = fill(sentence, find);
    if (filled !== null) return filled;
  }
  return null;
}

/** Fills one sentence. Returns null if a slot has no value. */
export function fill(sentence: Sentence, find: FindValue): Filled | null {
  const values: Value[] = [];
  const read = (slot: string): string | null => {
    const value = find(slot);
    if (value !== null) values.push(value);
    return value?.text ?? null;
  };
  if (typeof sentence !== 'string') {
    const text = sentence(read);
    return text === null ? null : { text, values };
  }
  const slots = new Set(Array.from(sentence.matchAll(SLOT), ([, slot]) => slot ?? ''));
  const textBySlot = new Map(Array.from(slots, (slot) => [slot, read(slot)]));
  if ([...textBySlot.values()].includes(null)) return null;
  const print = (_: string, slot: string, hidden: string) =>
    hidden === '' ? (textBySlot.get(slot) ?? '') : '';
  return { text: sentence.replace(SLOT, print), values };
}

/** Returns the slots in the templates of a wording. Sentences that are functions are skipped. */
export function listSlots({ title, cause, fix }: Wording): string[] {
  const sentences = [title ?? [], cause ?? [], (fix ?? []).map(([, sentence]) => sentence)].flat();
  const templates = sentences.filter((sentence) => typeof sentence === 'string');
  return templates.flatMap((template) => Array.from(template.matchAll(SLOT), ([, slot]) => slot ?? ''));
}
