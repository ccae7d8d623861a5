import { stat } from 'node:fs/promises';
import { TriageError } from '../../domain/errors.ts';

/** Options of `replay` that say how cases are answered, judged or told; `usual` where leaving them out gives a value too. */
const OF_CASES: readonly { readonly key: string; readonly flag: string; readonly usual?: unknown }[] = [
  ...['dataset', 'logs', 'reviewed', 'stored', 'by', 'sample', 'resume', 'html', 'junit', 'gate', 'judge'].map(named),
  ...['repository', 'branch', 'fingerprint', 'category', 'since', 'until'].map(named),
  ...['analyst', 'profile', 'model', 'budget', 'max-usd', 'max-minutes', 'only', 'without', 'design', 'record'].map(named),
  { key: 'repeat', flag: '--repeat', usual: 1 },
  { key: 'green', flag: '--no-green', usual: true },
];

/**
 * Refuses what does not go with `--frozen`. Left out silently, a gate would pass that nobody held. Throws `invalid-config`.
 */
export function refuseOptionsOfCases(options: object): void {
  const given = new Map<string, unknown>(Object.entries(options));
  const flags = OF_CASES.filter(({ key, usual }) => given.get(key) !== undefined && given.get(key) !== usual).map(({ flag }) => flag);
  if (flags.length === 0) return;
  const sentence = `${flags.join(', ')} cannot be combined with --frozen, which reruns recordings.`;
  throw new TriageError('invalid-config', sentence);
}

/** Refuses to write over what is to be read, also under another name. Throws `invalid-config`. */
export async function refuseSameFile(read: string, written: string | undefined): Promise<void> {
  if (written === undefined) return;
  const [one, other] = await Promise.all([read, written].map((path) => stat(path).catch(() => null)));
  if (one != null && other != null && one.isFile() && one.dev === other.dev && one.ino === other.ino)
    throw new TriageError('invalid-config', `--out: ${written} contains the recordings to read; choose another file.`);
}

function named(name: string): { readonly key: string; readonly flag: string } {
  return { key: name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()), flag: `--${name}` };
}
