import { append } from '../lib/lists.ts';

/** Words of programming languages and of any code: they say nothing about what it does. */
const COMMON = new Set(
  `abstract and any args array assert async await bool boolean break byte case catch char class const constructor continue def default del
  delete double elif else end enum error except export extends false final finally float fn for from func function get global if impl
  implements import in include instanceof int interface is lambda let list long map match mod module mut namespace new nil none not null
  number object of or override package pass private protected pub public raise return self set short static string struct super switch
  template test then this throw throws trait true try tuple type typeof undefined union unit unsafe use using val value var void
  volatile when where while with yield`.split(/\s+/),
);

/** The words of code and prose, in lower case, with the parts of compound identifiers beside the whole. */
export function codeWords(text: string): string[] {
  const words: string[] = [];
  for (const [identifier] of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]{1,80}/gu)) {
    const parts = partsOf(identifier);
    if (parts.length > 1) words.push(identifier.toLowerCase());
    append(words, parts);
  }
  return words.filter((word) => word.length > 1 && !COMMON.has(word));
}

/** The identifiers that find files best, most telling first: compound ones, then long ones; at most `most`, each as it is written. */
export function searchWords(text: string, most: number): string[] {
  const known = new Map<string, number>();
  for (const [identifier] of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]{2,80}/gu)) {
    if (COMMON.has(identifier.toLowerCase())) continue;
    const worth = Math.min(12, identifier.length) + 6 * Math.min(3, partsOf(identifier).length - 1);
    known.set(identifier, Math.max(worth, known.get(identifier) ?? 0));
  }
  return [...known]
    .sort(([, left], [, right]) => right - left)
    .slice(0, most)
    .map(([identifier]) => identifier);
}

/** `taxOfCart`, `tax_of_cart` and `TAXOfCart` are made of tax, of and cart. */
function partsOf(identifier: string): string[] {
  return identifier
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1_')
    .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1_')
    .toLowerCase()
    .split(/[_$]+/)
    .filter((part) => part !== '');
}
