import { isSilent } from '../../../src/replay/run/check-advice.ts';
import { createLookup, findIdentifiers, type Identifier } from '../../../src/replay/run/identifiers.ts';
import { readCapturedFailures } from '../reading-gates.ts';
import { MISLEADING_KINDS, type MisleadingKind } from './misleading-kinds.ts';
import { findOwnNames } from './own-names.ts';

/**
 * Answers a log with advice: a text for each cause, or null if nothing is advised. The gates are also tested
 * with worse advisers.
 */
export type Advise = (text: string) => Promise<readonly (string | null)[]>;

/** The number of cases that break one rule of good advice. */
export interface AdviceCount {
  readonly name: string;
  readonly cases: number;
  /** A sentence for each: the case, and what is wrong with its advice. */
  readonly broken: readonly string[];
}

/** A log with its name, and the numbers of the lines that say why it failed. */
export type AdvisedLog = Pick<ReturnType<typeof readCapturedFailures>[number], 'name' | 'text' | 'telling'>;

const VALUE_KINDS = ['path', 'version', 'package', 'variable', 'command', 'host', 'number'] as const;
type ValueKind = (typeof VALUE_KINDS)[number];

/**
 * Counts the advice on captured failures that names a value that is not in its log, for each kind of value.
 */
export async function countAbsentValues(
  advise: Advise,
  logs: readonly AdvisedLog[] = readCapturedFailures(),
): Promise<AdviceCount[]> {
  const broken = new Map<ValueKind, string[]>(VALUE_KINDS.map((kind) => [kind, []]));
  for (const { name, text } of logs) {
    const stands = createLookup([text]);
    for (const advice of await advise(text)) {
      if (isSilent(advice)) continue;
      const own = findOwnNames(text, advice ?? '');
      for (const { kind, value, lookedUp } of findValues(advice ?? ''))
        if (!stands(lookedUp) && !own.has(value) && !isJavaRelease(value, text))
          broken.get(kind)?.push(`${name}: ${kind} ${value} in “${advice}”`);
    }
  }
  return [...broken].map(([kind, sentences]) => ({
    name: `absent ${kind}`,
    cases: logs.length,
    broken: sentences,
  }));
}

/** Checks whether a number is the Java release of a class file version in the log: 17 of 61.0. */
function isJavaRelease(value: string, text: string): boolean {
  return /class file/.test(text) && text.includes(` ${Number(value) + 44}.0`);
}

/** Counts misleading advice on invented logs of kinds that used to mislead, for each group of kinds. */
export async function countMisleading(
  advise: Advise,
  kinds: readonly MisleadingKind[] = MISLEADING_KINDS,
): Promise<AdviceCount[]> {
  const groups = new Map<string, { cases: number; broken: string[] }>();
  for (const kind of kinds) {
    const group = groups.get(kind.group) ?? { cases: 0, broken: [] };
    groups.set(kind.group, group);
    group.cases++;
    const said = (await advise(kind.log)).map((advice) => (isSilent(advice) ? '' : (advice ?? '')));
    const wrong = findFault(said.join('\n'), kind);
    if (wrong !== null) group.broken.push(`${kind.name}: ${wrong} in “${said.join(' / ')}”`);
  }
  return [...groups].map(([name, counted]) => ({ name, ...counted }));
}

/**
 * Counts advice that is generic. The lines around the trigger are deleted from each log, and the advice must
 * then be silent, or name or quote something that is left. The trigger is the first informative line, with
 * everything up to six lines before and after it.
 */
export async function countGeneric(
  advise: Advise,
  logs: readonly AdvisedLog[] = readCapturedFailures(),
): Promise<AdviceCount> {
  const usable = logs.filter(({ telling }) => telling.length > 0);
  const broken: string[] = [];
  for (const log of usable) {
    const text = deleteNeighbors(log);
    const stands = createLookup([text]);
    for (const advice of await advise(text)) {
      if (isSilent(advice)) continue;
      const own = findOwnNames(text, advice ?? '');
      if (!findGrounds(advice ?? '').some((ground) => stands(ground) || own.has(ground.value)))
        broken.push(`${log.name}: “${advice}”`);
    }
  }
  return { name: 'general advice on a trigger without its neighbors', cases: usable.length, broken };
}

const NEIGHBORS = 6;

/** Returns the log without the lines around its first informative line. */
export function deleteNeighbors({ text, telling }: AdvisedLog): string {
  const trigger = telling[0]?.[0] ?? 0;
  const isNeighbor = (line: number) => line !== trigger && Math.abs(line - trigger) <= NEIGHBORS;
  return text
    .split('\n')
    .filter((_, at) => !isNeighbor(at + 1))
    .join('\n');
}

interface NamedValue {
  readonly kind: ValueKind;
  readonly value: string;
  readonly lookedUp: Identifier;
}

const HOST = /(?<![\w@/.-])(?:[a-z0-9-]{1,40}\.){1,4}(?:com|dev|io|net|org)(?![\w-])/gi;
const NUMBER = /(?<![\w.:-])\d{1,9}(?![\w.-])/g;

/** Returns the names in the advice that could come from any text, with hosts and numbers. */
function findValues(advice: string): NamedValue[] {
  const isValueKind = (kind: string): kind is ValueKind => VALUE_KINDS.some((one) => one === kind);
  const named = findIdentifiers(advice).flatMap((lookedUp) =>
    isValueKind(lookedUp.kind) ? [{ kind: lookedUp.kind, value: lookedUp.value, lookedUp }] : [],
  );
  const plain = (kind: 'host' | 'number', pattern: RegExp) =>
    [...advice.matchAll(pattern)].map(([value]) => ({
      kind,
      value,
      lookedUp: { kind: 'symbol' as const, value },
    }));
  return [...named, ...plain('host', HOST), ...plain('number', NUMBER)];
}

/** Returns everything that ties a sentence to its log: names of any kind, and quotations. */
function findGrounds(advice: string): Identifier[] {
  const quotes = [...advice.matchAll(/[“`]([^”`]{3,200})[”`]/g)].map(([, value = '']) => ({
    kind: 'symbol' as const,
    value: value.replace(/…$/, ''),
  }));
  return [...findIdentifiers(advice), ...findValues(advice).map(({ lookedUp }) => lookedUp), ...quotes];
}

/** Returns what is wrong with the advice on such a log, or null if nothing is. */
function findFault(advice: string, { forbidden, needed }: MisleadingKind): string | null {
  const holds = (words: string) =>
    new RegExp(`(?<!\\w)${words.replace(/[^\w\s]/g, '\\$&')}(?!\\w)`, 'i').test(advice);
  const said = forbidden.find(holds);
  if (said !== undefined) return `says “${said}”`;
  if (needed.length > 0 && !needed.some(holds)) return `does not say “${needed[0]}”`;
  return null;
}
