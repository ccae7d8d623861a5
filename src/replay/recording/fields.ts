import { shortHashOf } from './canonical.ts';

/** The short hash of a value that is met again and again. */
export type HashSubject = (value: object) => string;

/** Remembers the hash of the subject, which every judgement of a run is given. */
export function createSubjectHash(): HashSubject {
  const known = new WeakMap<object, string>();
  return (value) => {
    const hash = known.get(value) ?? shortHashOf(value);
    known.set(value, hash);
    return hash;
  };
}

/** A short hash of each part of a judgement's input, so that a difference can be named. */
export function fieldHashes(input: object, hashSubject: HashSubject): Record<string, string> {
  const parts = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(parts.map(([name, value]) => [name, isObject(value) ? hashSubject(value) : shortHashOf(value)]));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
