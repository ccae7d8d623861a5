import type { Masker } from '../../../log/mask/mask.ts';

type Masking = Pick<Masker, 'mask'>;

/** The minimum length of a masked text in characters. No secret is shorter. */
const SHORT = 8;

/**
 * Returns the value with secrets in its texts masked. Everything that a run sees was masked before; this is a
 * second safeguard. All texts are first checked as one, because usually there is nothing to hide.
 */
export async function maskStrings<Value>(value: Value, masker: Masking): Promise<Value> {
  const texts = new Set<string>();
  collect(value, texts);
  const all = [...texts].join('\n');
  if ((await masker.mask(all)).text === all) return value;
  const masked = new Map<string, string>();
  for (const text of texts) masked.set(text, (await masker.mask(text)).text);
  return JSON.parse(
    JSON.stringify(value, (_key, item: unknown) =>
      typeof item === 'string' ? (masked.get(item) ?? item) : item,
    ),
  );
}

function collect(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string') {
    if (value.length >= SHORT) texts.add(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collect(item, texts);
}
