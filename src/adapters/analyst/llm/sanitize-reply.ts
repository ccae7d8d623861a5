import { TriageError } from '../../../domain/errors.ts';

/** Shorter sentences of a prompt may be said by chance. */
const TELLING = 80;
/** Shorter texts of an example ("states the version") may be meant. */
const EXAMPLE = 30;
const ADDRESS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"'`]{1,2000}/gi;

/** Text of a model without addresses: it is told to give none, so one that is there was put there by others. */
export function withoutAddresses(text: string): string {
  return text.replace(ADDRESS, '[address left out]');
}

/**
 * The reply as it came. Throws `invalid-input` where an answer says a whole sentence of our own instructions: no honest answer about a build does, and a model
 * that was talked into that may have been talked into more.
 */
export function withoutRecital(reply: unknown, system: string): unknown {
  const told = sentencesOf(system);
  const recited = textsIn(reply).some((text) => {
    const said = flat(text);
    return said.length >= TELLING && told.some((sentence) => said.includes(sentence));
  });
  if (recited) throw new TriageError('invalid-input', 'it recites the instructions instead of answering');
  return reply;
}

/**
 * The reply as it came. Throws `invalid-input` where it repeats a text of the examples in its instructions that this build's own data (`shown`) do not
 * hold: small models copy the example whole instead of answering, with its confidence.
 */
export function withoutExamples(reply: unknown, system: string, shown: string): unknown {
  const data = flat(shown);
  const examples = new Set(examplesIn(system).flatMap(textsIn).map(flat));
  const copied = textsIn(reply)
    .map(flat)
    .find((text) => text.length >= EXAMPLE && examples.has(text) && !data.includes(text));
  if (copied !== undefined) throw new TriageError('invalid-input', `"${copied}" is the example's; say what this build shows`);
  return reply;
}

/** Examples are written as JSON, each on a line of its own. */
function examplesIn(system: string): unknown[] {
  return system.split('\n').flatMap((line) => {
    const start = line.indexOf('{"');
    if (start < 0) return [];
    try {
      return [JSON.parse(line.slice(start))];
    } catch {
      return [];
    }
  });
}

function sentencesOf(system: string): string[] {
  const sentences = system.split('\n').flatMap((line) => flat(line).split('. '));
  return sentences.filter((sentence) => sentence.length >= TELLING);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
