/**
 * Whether an item is one of every `every`, by its name alone: asked again, and anywhere, the answer is the same. 0: never.
 */
export function isDrawn(name: string, every: number): boolean {
  return every > 0 && hash(name) % every === 0;
}

/** FNV-1a over UTF-16 units, mixed once more (Murmur3's finaliser), since names share their first characters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
