import type { FailingTest } from '../../../domain/failure.ts';
import { splitExpectation } from '../../expectation.ts';
import { isForeignFile, readFrame } from '../../frames.ts';

/** What the lines below a failing test's title tell of it. */
export type BlockDetails = Pick<FailingTest, 'file' | 'line' | 'message' | 'expected' | 'actual'>;

interface Place {
  readonly file: string;
  readonly line: number | null;
}

/** What build tools put before each line. */
export const TAG = /^\s{0,12}\[(?:info|error|warn|junit|INFO|ERROR|WARNING)\] ?/;
/** A path with an ending, and a line number in any of the usual notations. */
const PLACE =
  /(?<file>(?:[A-Za-z]:)?[^\s:()'"[\]@,<>*]{1,300}\.[A-Za-z]\w{0,8})'?(?:[:(#]|:line |, line | line | @ )(?<line>\d{1,7})(?!\d|\.\d)/;
/** What stands before a message on its own line. */
const BEFORE_MESSAGE =
  /^(?:[^\s:()]{1,300}[:(]\d{1,7}(?::\d{1,6})?\)?: |\[\d\d:\d\d:\d\d\] |\[xUnit\.net [\d:.]{1,20}\]\s{0,12}|(?:Reason|Message|Error Message): )?(?:(?:FATAL )?ERROR: (?=\w{1,40}\())?/;
/** Lines that give no message: a label, a place, a rule, a quoted line of code, a frame. */
const NO_MESSAGE =
  /^(?:(?:Error thrown in test|Message|Stack|Stack ?trace|Error Message|Output|Failure\/Error|stacktrace|FAILED|Caused an ERROR):?$|[─⎯=\-_.*~^]{1,300}$|[A-Z][A-Za-z]{1,30}(?: [A-Z][A-Za-z]{1,30}){0,3} ?\d[\d.]{0,20} \([^()\n]{1,60}\)$|[-─]{2}[^\n]{1,200}[-─]{2}$|(?:>|➜|❯|\|)?\s{0,6}\d{1,6}\s{0,3}[|▕:│]|at \S{1,300}$|at [^\n]{1,300}\(|(?:[^\w\s] )?[^\s:]{1,300}[:(]\d{1,7}(?::\d{1,6})?\)?:?$|\W{1,4}$)/;
/** How runners write the two sides, where `splitExpectation` does not know it; the sides may stand on different lines. */
const SIDES: readonly { readonly expected: RegExp; readonly actual: RegExp }[] = [
  {
    expected: /\{expected,(?<value>[^\n]{1,200}?)\}(?:,|$)/m,
    actual: /\{value,(?<value>[^\n]{1,200}?)\}/,
  },
  { expected: /^\s{0,12}right: (?<value>\S[^\n]{0,300})$/m, actual: /^\s{0,12}left: {1,4}(?<value>\S[^\n]{0,300})$/m },
  {
    expected: /^\s{0,12}\+\+(?<value>\S[^\n]{0,300}?)(?:\s{1,20}\(Expected\))?$/m,
    actual: /^\s{0,12}--(?<value>\S[^\n]{0,300}?)(?:\s{1,20}\(Actual\))?$/m,
  },
  {
    expected: /^\s{0,12}Expected:\s{0,4}\n\s{0,12}(?:\(\w{1,20}\) )?(?<value>\S[^\n]{0,300})$/m,
    actual: /^\s{0,12}(?:Passed in|Actual|Received):\s{0,4}\n\s{0,12}(?:\(\w{1,20}\) )?(?<value>\S[^\n]{0,300})$/m,
  },
  {
    expected: /^\s{0,12}expected: (?<value>\S[^\n]{0,300}?),?$/im,
    actual: /^\s{0,12}(?:actual|got|received): {1,8}(?<value>\S[^\n]{0,300}?),?$/im,
  },
  {
    expected: /^\s{0,12}Expected(?:\s{1,8}\([^\n:]{0,200}\))?\s{0,80}: (?<value>\S[^\n]{0,300})$/m,
    actual: /^\s{0,12}Actual(?:\s{1,8}\([^\n:]{0,200}\))?\s{0,80}: {1,4}(?<value>\S[^\n]{0,300})$/m,
  },
  { expected: /<(?<value>[^\n]{0,300})> expected but was\n/, actual: /> expected but was\n<(?<value>[^\n]{0,300})>/ },
];
/** Both sides on one line, or in one paragraph. */
const COMPARED: readonly RegExp[] = [
  /Expected (?<actual>[^\n]{1,200}?) to (?:be|equal) (?!equal)(?<expected>[^\n]{1,200}?)\.(?:\n|$)/,
  / has failed \[(?<actual>[^\n]{1,250}) != (?<expected>[^\n]{1,250})\]/,
  /with expansion:\n\s{1,8}(?<actual>[^\n]{1,300}?) == (?<expected>[^\n]{1,300})/,
  /values: \w{1,40}\( (?<actual>[^\n]{1,200}?) == (?<expected>[^\n]{1,200}) \)/,
  /Expected (?<expected>[^\n]{1,200}?), but got (?<actual>[^\n]{1,200}?)\.(?:\n|$)/,
  /Evaluated: (?<actual>[^\n]{1,300}?) (?:==|≈|===|isequal) (?<expected>[^\n]{1,300})/,
  /\("(?<actual>[^\n]{0,250}?)"\) is not equal to \("(?<expected>[^\n]{0,250}?)"\)/,
  /<[^>\n]{1,80}>: (?<actual>[^\n]{1,300})\n\s{0,12}to \w{1,20}\n\s{0,12}<[^>\n]{1,80}>: (?<expected>[^\n]{1,300})/,
  /(?:^|\n)\s{0,12}(?<actual>[^\n]{1,300}?) did not equal (?<expected>[^\n]{1,300}?)(?: \(|\n|$)/,
  /Difference \(- actual, \+ expected\):\s{1,8}- (?<actual>[^\n]{1,300})\n\s{0,8}\+ (?<expected>[^\n]{1,300})/,
  /(?:^|\n)--- ?Expected[^\n]{0,20}\n[^\n]{0,80}\n(?:@@[^\n]{0,40}\n)?-(?<expected>[^\n]{1,300})\n\+(?<actual>[^\n]{1,300})/,
  /^(?:[\w.]{1,80}(?:Error|Exception): )?(?<actual>[^\n]{1,100}?)(?: \([\w ]{1,20}\))? != (?<expected>[^\n]{1,100}?)(?: \([\w ]{1,20}\))?(?:\n|$)/,
];

/** Reads the lines below a title. The file is the test's own where one of the places is, else the first of the project's own code. */
export function readBlock(body: readonly string[], title: { readonly name: string; readonly suite: string | null }): BlockDetails {
  const plain = body.map((text) => text.replace(TAG, ''));
  const place = ownPlace(plain, title);
  // pytest marks what was raised with an E at the margin.
  const raised = plain.filter((text) => /^E(?:\s{2,40}|$)/.test(text)).map((text) => text.replace(/^E\s{0,3}/, ''));
  const said = raised.length > 0 ? raised : plain;
  return { file: place?.file ?? null, line: place?.line ?? null, message: messageOf(said, title.name), ...sidesOf(said.join('\n')) };
}

/** Whether a path is that of a test by its name. */
export function isTestFile(path: string): boolean {
  return /(?:^|[/\\])(?:tests?|specs?|__tests__|e2e|features)[/\\]|(?:^|[/\\._-])(?:tests?|specs?|cy)(?:[._-]|$)|[a-z\d](?:Tests?|Spec|IT)\.\w{1,8}$|\.(?:feature|phpt|t|bats)$/i.test(
    path,
  );
}

function ownPlace(body: readonly string[], { name, suite }: { readonly name: string; readonly suite: string | null }): Place | null {
  // A Go test stands in a file that says so, and nowhere else.
  const places = body.flatMap((text) => placeIn(text) ?? []).filter(({ file }) => !/(?<!_test)\.go$/.test(file));
  const words = [suite?.split(/[\s.:\\$>›]/).findLast((word) => word !== ''), name.split(/[^\w$]/)[0]].filter(
    (word) => (word?.length ?? 0) > 2,
  );
  return (
    places.find(({ file }) => words.some((word) => file.split(/[/\\]/).at(-1)?.startsWith(`${word}.`))) ??
    places.find(({ file }) => isTestFile(file)) ??
    places[0] ??
    null
  );
}

/** The place of the project's own code that a line names. */
export function placeIn(text: string): Place | null {
  const frame = readFrame(text);
  if (frame !== null) return frame.own ? { file: frame.file.replace(/^file:\/\//, ''), line: frame.line } : null;
  const place = PLACE.exec(text.slice(0, 600))?.groups;
  const file = place?.file?.replace(/^file:\/\//, '').replace(/^.*=(?=[\w./])/, '');
  return file === undefined || /^\d/.test(file) || /\/\/|^www\./.test(file) || isForeignFile(file)
    ? null
    : { file, line: Number(place?.line) };
}

function messageOf(body: readonly string[], name: string): string | null {
  if (body.some((text) => text.trim() === 'Traceback (most recent call last):')) return raisedLast(body);
  const thrown = body.find((text) => /^\s{0,8}[A-Z]\w{0,60}(?:Error|Exception): \S/.test(text));
  if (thrown !== undefined && body.some((text) => /(?:Error|Exception) \{$/.test(text))) return thrown.trim().slice(0, 1_000);
  for (const text of body) {
    const said = text.trim();
    const message = said.replace(BEFORE_MESSAGE, '');
    if (message === '' || NO_MESSAGE.test(said) || said === name || said.startsWith('Failure/Error:')) continue;
    return message.slice(0, 1_000);
  }
  return null;
}

/** Python prints what was raised below its trace; of a chain, the last is what ended the test. */
function raisedLast(body: readonly string[]): string | null {
  const captured = body.findIndex((text) => /-{8} ?>> begin captured/.test(text));
  const raised = body
    .slice(0, captured === -1 ? undefined : captured)
    .findLast((text) => /^\s{0,8}[A-Za-z_][\w.]{0,200}(?:Error|Exception|Failure|FailTest|Exit|Interrupt|Warning|Timeout)\b/.test(text));
  return raised?.trim().slice(0, 1_000) ?? null;
}

function sidesOf(text: string): Pick<FailingTest, 'expected' | 'actual'> {
  const head = text.slice(0, 4_000);
  for (const shape of COMPARED) {
    const both = shape.exec(head)?.groups;
    if (both !== undefined) return { expected: both.expected?.trim() ?? null, actual: both.actual?.trim() ?? null };
  }
  for (const { expected, actual } of SIDES) {
    const one = expected.exec(head)?.groups?.value?.trim();
    if (one !== undefined) return { expected: one, actual: actual.exec(head)?.groups?.value?.trim() ?? null };
  }
  return splitExpectation(head);
}
