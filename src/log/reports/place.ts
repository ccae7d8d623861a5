import { isForeignFile, readFrame } from '../frames.ts';

/** Where a test stands, as far as it is known. */
export interface Place {
  readonly file: string | null;
  /** 1-based. */
  readonly line: number | null;
}

const MAX_LINES = 300;
const AT_FILE = /(?:^|[\s(#'"])(?<file>(?:[A-Za-z]:)?[\w./\\@+-]{1,250}\.[A-Za-z]{1,5}):(?<line>\d{1,7})(?=$|[:\s),'"])/;
/** .NET, on Windows too. */
const IN_FILE = / in (?<file>(?:[A-Za-z]:)?[^\n:]{1,250}):line (?<line>\d{1,7})$/;
const AT_LINE = /\bat (?<file>[\w./\\-]{1,250}\.\w{1,5}) line (?<line>\d{1,7})\b/;

/**
 * The line of a failure in the test's own file, read from its stack trace or output. A known file stays; without one, the file is the
 * first place in the project's own code that is the suite's or looks like a test's, else the first of its own at all.
 */
export function placeOf(detail: string, known: Place & { readonly suite: string | null }): Place {
  const places = placesIn(detail);
  if (known.file !== null) {
    const { file } = known;
    const own = places.find((place) => isSameFile(place.file, file));
    return { file, line: own?.line ?? known.line };
  }
  const names = classNames(known.suite);
  const own =
    places.find(({ file }) => names.has(baseOf(file))) ??
    places.find(({ file }) => /(?:^|[/\\_.-])(?:tests?|specs?|__tests__|t)(?:[/\\_.-]|$)|Tests?\.\w+$/i.test(file)) ??
    places[0];
  return own ?? { file: null, line: known.line };
}

function placesIn(detail: string): { readonly file: string; readonly line: number }[] {
  return detail.split('\n', MAX_LINES).flatMap((text) => {
    if (text.length > 1_000) return [];
    const net = IN_FILE.exec(text.trimEnd())?.groups;
    if (net?.file !== undefined) return [{ file: net.file, line: Number(net.line) }];
    const frame = readFrame(text);
    if (frame !== null) return frame.own && frame.line !== null ? [{ file: frame.file, line: frame.line }] : [];
    const { file, line } = (AT_FILE.exec(text) ?? AT_LINE.exec(text))?.groups ?? {};
    return file === undefined || line === undefined || isForeignFile(file) ? [] : [{ file, line: Number(line) }];
  });
}

/** `com.example.OuterTest$Inner` is in `OuterTest`; `tests.test_tax.TestTax` is in `test_tax`. */
function classNames(suite: string | null): ReadonlySet<string> {
  return new Set((suite ?? '').split(/[.$+:\\/ ]/).filter((part) => part.length > 2));
}

function baseOf(file: string): string {
  return /(?<![^/\\])([^/\\]*?)\.\w+$/.exec(file.slice(-260))?.[1] ?? file;
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one.replaceAll('\\', '/').replace(/^\.\//, ''), other.replaceAll('\\', '/').replace(/^\.\//, '')];
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}
