/** One TeamCity service message, with its values unescaped. A message of a single value has it under the empty name. */
export interface ServiceMessage {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const HEAD = /##teamcity\[(\w{1,60})(?= |\])/;
/** `|'` and `||` are escaped inside a value, so that a value ends at the first quote without `|` before it. */
const ATTRIBUTE = /(?<= )(?:(\w{1,60}) ?= ?)?'((?:[^'|]|\|.){0,20000})'/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', x: '\u0085', l: '\u2028', p: '\u2029' };

/** Reads the service message that a line holds, wherever in the line it starts; null where it holds none. */
export function readServiceMessage(line: string): ServiceMessage | null {
  const head = HEAD.exec(line);
  if (head === null) return null;
  const rest = line.slice(head.index + head[0].length);
  const attributes = new Map(Array.from(rest.matchAll(ATTRIBUTE), ([, name = '', value = '']) => [name, unescaped(value)]));
  return { name: head[1] ?? '', attributes };
}

/** `|n`, `|r`, `||`, `|'`, `|[`, `|]` and `|0x00e9`. */
function unescaped(value: string): string {
  return value.replace(/\|(?:0x([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, sign: string | undefined) =>
    code === undefined ? (ESCAPED[sign ?? ''] ?? sign ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
