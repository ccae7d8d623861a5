import type { LogText } from '../lines/lines.ts';
import type { LineRange } from '../sections/system.ts';

/** Literals, case ignored. Every line that is needed about wheels contains one of them. */
export const WHEEL_LITERALS: readonly string[] = [
  'Building wheel for ',
  'Failed building wheel for ',
  'Failed to build ',
  'Could not build wheels for ',
  'Successfully built ',
  'Successfully installed ',
];

const NAME = String.raw`[\w.-]{1,100}`;
const BEGINS = new RegExp(String.raw`^\s{0,8}Building wheel for (?<name>${NAME}) \(.{1,60}\): started`);
const FAILED = new RegExp(String.raw`^\s{0,8}(?:ERROR: )?Failed building wheel for (?<name>${NAME})\s*$`);
/** The lines below a failed wheel that repeat that it failed. */
const FAILED_TOO = /^(?:ERROR: )?(?:Failed to build \S|Could not build wheels for )/;
const SUCCEEDED = /^\s{0,8}Successfully (?:built|installed) (?<names>\S.{0,2000})$/;
const MAX_BELOW = 6;

/**
 * Finds the lines of wheels whose build failed, if pip built or installed the same package later: with
 * another compiler, from source, or on the second attempt.
 */
export function readRepeatedWheels(log: LogText, lines: readonly number[]): LineRange[] {
  const texts = lines.map((line) => ({ line, text: log.line(line).trimEnd() }));
  return texts.flatMap(({ line, text }) => {
    const name = FAILED.exec(text)?.groups?.name;
    if (name === undefined) return [];
    const isBuiltLater = texts.some((later) => later.line > line && namesPackage(later.text, name));
    if (!isBuiltLater) return [];
    const begin = texts.findLast(
      (above) => above.line < line && BEGINS.exec(above.text)?.groups?.name === name,
    );
    const end = texts.findLast(
      (below) => below.line > line && below.line <= line + MAX_BELOW && FAILED_TOO.test(below.text),
    );
    return [{ start: begin?.line ?? line, end: end?.line ?? line }];
  });
}

/** Checks whether a line lists a package as built ("tides") or installed ("tides-1.4"). */
function namesPackage(text: string, name: string): boolean {
  const names = SUCCEEDED.exec(text)?.groups?.names?.split(' ') ?? [];
  return names.some((entry) => toPlainName(entry.replace(/-\d[^-]*$/, '')) === toPlainName(name));
}

function toPlainName(name: string): string {
  return name.toLowerCase().replace(/[._-]+/g, '-');
}
