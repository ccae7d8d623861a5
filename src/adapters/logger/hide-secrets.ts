import { createKnownFinder } from '../../log/mask/known.ts';
import { findShapes, SHAPES } from '../../log/mask/shapes.ts';
import { hideSpans, mergeSpans } from '../../log/mask/span.ts';

/** Nothing that is logged on purpose is longer; what follows is cut off. */
const MAX_TEXT = 8_000;
/** Shorter texts can hold no secret that is worth the name. */
const MIN_TEXT = 8;
const ALL_SHAPES = (1 << SHAPES.length) - 1;

/** Hides in one text what is known to be secret, in any spelling, and what looks like a secret; what comes out is valid Unicode. */
export type HideSecrets = (text: string) => string;

/** `known` are the process's own secrets. */
export function createHideSecrets(known: readonly string[]): HideSecrets {
  const findKnown = createKnownFinder(known.filter((secret) => secret.length >= MIN_TEXT));
  return (given) => {
    const text = (given.length > MAX_TEXT ? `${given.slice(0, MAX_TEXT)}…` : given).toWellFormed();
    if (text.length < MIN_TEXT) return text;
    const spans = findKnown?.(text) ?? [];
    let at = 0;
    for (const line of text.split('\n')) {
      for (const { from, to } of findShapes(line, ALL_SHAPES)) spans.push({ from: from + at, to: to + at });
      at += line.length + 1;
    }
    return hideSpans(text, mergeSpans(spans)).text;
  };
}
