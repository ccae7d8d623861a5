/** A spelling of a secret to look for. */
export interface Form {
  readonly text: string;
  /** Characters before and after that also hold bits of the secret, as base64 leaves them. */
  readonly before: number;
  readonly after: number;
}

/** No shorter spelling is looked for: it would stand in other words. */
export const MIN_FORM = 8;

/**
 * All spellings of a secret in which logs show it: itself, base64 and base64url at each of the three places it can have in a
 * longer text, hex, URL-encoded, and escaped for JSON and for XML.
 */
export function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret, 'utf8');
  const hex = bytes.toString('hex');
  const plain = [secret, hex, hex.toUpperCase(), ...urlEncoded(secret), JSON.stringify(secret).slice(1, -1), forXml(secret)];
  const forms = plain.map((text) => ({ text, before: 0, after: 0 })).concat([0, 1, 2].flatMap((place) => inBase64(bytes, place)));
  const seen = new Set<string>();
  return forms.filter(({ text }) => text.length >= MIN_FORM && !seen.has(text) && seen.add(text) !== undefined);
}

/** The characters that this secret alone decides, and at each end one that it shares with what stands beside it. */
function inBase64(bytes: Buffer, place: number): Form[] {
  const whole = Buffer.concat([Buffer.alloc(place), bytes])
    .toString('base64')
    .replace(/={1,2}$/, '');
  const from = Math.ceil((place * 8) / 6);
  const to = Math.floor(((place + bytes.length) * 8) / 6);
  const text = whole.slice(from, to);
  const [before, after] = [place === 0 ? 0 : 1, whole.length > to ? 1 : 0];
  const safe = text.replaceAll('+', '-').replaceAll('/', '_');
  return [text, safe].map((one) => ({ text: one, before, after }));
}

function urlEncoded(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = (text: string) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, strict, lower(encoded), lower(strict), strict.replaceAll('%20', '+')];
}

function forXml(secret: string): string {
  return secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}
