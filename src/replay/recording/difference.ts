import type { JudgementName } from '../../domain/recording.ts';
import { canonicalJson } from '../../service/triage/recording/recording-lines.ts';

/** One place in a value that was another once. Both are canonical JSON, shortened; null: nothing was there. */
interface FieldDifference {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Which judgement it was about. */
export interface Place {
  readonly name: JudgementName;
  readonly role: 'analyst' | 'spare';
  readonly round: number;
  readonly investigator: string | null;
}

/** Where a run of today's code leaves the recorded one. */
export type Difference =
  | { readonly what: 'limits'; readonly fields: readonly FieldDifference[] }
  | { readonly what: 'analyst'; readonly before: string; readonly after: string }
  /** The judge was shown something else: which parts of the input changed. */
  | { readonly what: 'input'; readonly at: Place; readonly parts: readonly string[] }
  | { readonly what: 'prompt'; readonly at: Place; readonly before: string | null; readonly after: string | null }
  /** The prompt is the same file, and what is put into it, or the schema of the reply, is not. */
  | { readonly what: 'shown'; readonly at: Place; readonly before: string; readonly after: string }
  | { readonly what: 'model'; readonly before: string | null; readonly after: string }
  | { readonly what: 'rule'; readonly at: Place; readonly fields: readonly FieldDifference[] }
  | { readonly what: 'judgement-not-recorded'; readonly at: Place }
  | { readonly what: 'judgement-unreadable'; readonly at: Place; readonly why: string }
  | { readonly what: 'call-not-recorded'; readonly tool: string; readonly args: string }
  | { readonly what: 'tools'; readonly category: string; readonly gone: readonly string[]; readonly added: readonly string[] }
  | { readonly what: 'analysis'; readonly fields: readonly FieldDifference[] };

const MOST_FIELDS = 20;
const MOST_CHARS = 160;

/** Where two values differ, in the order of the first one's keys; at most 20 places. */
export function fieldsThatDiffer(before: unknown, after: unknown, path = ''): FieldDifference[] {
  const found: FieldDifference[] = [];
  compare(before, after, path, found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: FieldDifference[]): void {
  if (found.length >= MOST_FIELDS || canonicalJson(before) === canonicalJson(after)) return;
  if (isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    for (const key of new Set([...old.keys(), ...now.keys()]))
      compare(old.get(key), now.get(key), join(path, key, Array.isArray(before)), found);
    return;
  }
  found.push({ path: path || 'value', before: shown(before), after: shown(after) });
}

function join(path: string, key: string, isArray: boolean): string {
  if (isArray) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const text = canonicalJson(value);
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS).toWellFormed()}…`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const NODES = {
  classify: 'classify',
  plan: 'reason',
  chooseTools: 'select_tool',
  correctCall: 'the correction of a call',
  answer: 'generate_answer',
  verify: 'verify',
} as const;
const SHOWN_FIELDS = 3;

/** One difference in a sentence for people, on one line; it quotes what was recorded, so it is for neutral ground. */
export function describeDifference(difference: Difference): string {
  return sentence(difference).replace(/\s+/g, ' ');
}

function sentence(difference: Difference): string {
  switch (difference.what) {
    case 'limits':
      return `the limits of the run differ: ${fieldsText(difference.fields)}`;
    case 'analyst':
      return `a different analyst is configured: ${difference.before} → ${difference.after}`;
    case 'input':
      return `${placeText(difference.at)} receives different input: ${difference.parts.join(', ')}`;
    case 'prompt':
      return `${placeText(difference.at)} has a different prompt: ${difference.before ?? 'none'} → ${difference.after ?? 'none'}`;
    case 'shown':
      return `${placeText(difference.at)} shows the model different input with the same prompt: ${difference.before} → ${difference.after}`;
    case 'model':
      return `a different model is configured: ${difference.before ?? 'none'} → ${difference.after}`;
    case 'rule':
      return `the rules decide differently in ${placeText(difference.at)}: ${fieldsText(difference.fields)}`;
    case 'judgement-not-recorded':
      return `${placeText(difference.at)} is called, but was not when recorded`;
    case 'judgement-unreadable':
      return `${placeText(difference.at)} has a recorded answer that cannot be read: ${difference.why}`;
    case 'call-not-recorded':
      return `${difference.tool} is called, but was not when recorded: ${difference.args}`;
    case 'tools':
      return `the tools for ${difference.category} differ: ${toolsText(difference)}`;
    case 'analysis':
      return `the answer differs: ${fieldsText(difference.fields)}`;
  }
}

function placeText({ name, role, round, investigator }: Place): string {
  const who = [...(role === 'spare' ? ['the fallback analyst'] : []), ...(investigator === null ? [] : [`investigator ${investigator}`])];
  return `${NODES[name]}${round === 0 ? '' : ` of round ${round}`}${who.length === 0 ? '' : ` (${who.join(', ')})`}`;
}

function fieldsText(fields: readonly FieldDifference[]): string {
  const shown = fields.slice(0, SHOWN_FIELDS).map(({ path, before, after }) => `${path} ${before ?? 'absent'} → ${after ?? 'absent'}`);
  return `${shown.join('; ')}${fields.length > SHOWN_FIELDS ? `; and ${fields.length - SHOWN_FIELDS} more` : ''}`;
}

function toolsText({ gone, added }: Extract<Difference, { what: 'tools' }>): string {
  return [...(gone.length === 0 ? [] : [`${gone.join(', ')} gone`]), ...(added.length === 0 ? [] : [`${added.join(', ')} new`])].join('; ');
}
