/**
 * The maximum number of repetitions in a rule without an upper bound. It allows a JSON web token of some
 * kilobytes.
 */
const UNBOUNDED = 4_000;
/** The maximum number of repetitions of a part in the middle of a rule. */
const SOME = 200;
const QUANTIFIER = /^\{(\d+)(,?)(\d*)\}/;

interface State {
  readonly ignoresCase: boolean;
  readonly dotIsAny: boolean;
}

/**
 * Translates a pattern of Go's RE2 to one of JavaScript without flags: case-insensitive parts are expanded,
 * groups do not capture, and every repetition has a bound. Throws RangeError for syntax that no rule has had
 * so far.
 */
export function translatePattern(source: string): string {
  const open: State[] = [];
  let state: State = { ignoresCase: false, dotIsAny: false };
  let made = '';
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at);
    const group = /^\((?:\?(?:P<\w+>|(-?[is])(:|\))|:))?/.exec(rest);
    const quantifier = QUANTIFIER.exec(rest);
    let taken = rest[0] ?? '';
    if (group !== null) {
      taken = group[0];
      if (group[2] !== ')') open.push(state);
      if (group[1] !== undefined)
        state = {
          ignoresCase: flagIn(group[1], 'i', state.ignoresCase),
          dotIsAny: flagIn(group[1], 's', state.dotIsAny),
        };
      made += group[2] === ')' ? '' : '(?:';
    } else if (taken === ')') {
      state = open.pop() ?? state;
      made += ')';
    } else if (taken === '[') {
      taken = /^\[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]/.exec(rest)?.[0] ?? '';
      if (taken === '') throw new RangeError(`A class does not end: ${rest}`);
      made += translateClass(taken, state.ignoresCase);
    } else if (taken === '\\') {
      taken = /^\\(?:x[0-9a-f]{2}|.)/.exec(rest)?.[0] ?? taken;
      made += taken === '\\z' ? '$' : taken;
    } else if (quantifier !== null) {
      taken = quantifier[0];
      made += quantifier[2] === ',' && quantifier[3] === '' ? `{${quantifier[1]},${UNBOUNDED}}` : taken;
    } else if (/[{}]/.test(taken)) made += `\\${taken}`;
    else if (/[*+]/.test(taken)) made += taken === '+' ? `{1,${SOME}}` : `{0,${SOME}}`;
    else if (taken === '.') made += state.dotIsAny ? '[^]' : '.';
    else
      made +=
        state.ignoresCase && /[a-z]/i.test(taken) ? `[${taken.toLowerCase()}${taken.toUpperCase()}]` : taken;
    at += taken.length;
  }
  return made;
}

function flagIn(flag: string, which: string, before: boolean): boolean {
  return flag.endsWith(which) ? !flag.startsWith('-') : before;
}

function translateClass(source: string, ignoresCase: boolean): string {
  const plain = source.replaceAll('[:alnum:]', 'A-Za-z0-9');
  if (!ignoresCase) return plain;
  const letters =
    plain.match(/\\.|[a-z]-[a-z]|[A-Z]-[A-Z]|[a-zA-Z]/g)?.filter((token) => !token.startsWith('\\')) ?? [];
  const others = letters.map((letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
  const start = plain.startsWith('[^') ? 2 : 1;
  return `${plain.slice(0, start)}${others.filter((other) => !plain.includes(other)).join('')}${plain.slice(start)}`;
}
