import { findLineBelow, type LogText } from './lines/lines.ts';
import type { LineRange } from './sections/system.ts';

/** The output of a program that a configure step compiles to find out what the machine supports. */
interface Probe {
  readonly begins: RegExp;
  /** The first line after the probe. */
  readonly until: RegExp;
  /** Lines that only a probe prints. If no line ends a probe, it ends with the last of these. */
  readonly own: RegExp;
  /**
   * Proof that the configure step continued after the probe: a line that must follow, or `end` if the line
   * that ends the probe is enough. If absent, no proof is needed.
   */
  readonly after?: RegExp | 'end';
}

/** The maximum numbers of lines of a probe, and of probes of a log. */
const [MAX_PROBE, MAX_PROBES] = [400, 2_000];
const CMAKE_SCRATCH = String.raw`CMakeFiles\/(?:CMakeTmp|CMakeScratch)\b`;
const CONFIGURE_LINE = String.raw`^configure:\d{1,7}: `;
const MESON_RESULT = /^(?:Checking|Has|Header|Compiler|Fetching)\b.{0,300}: (?:YES|NO|\d{1,9})\b/;
/** Lines that the shell, make or a CI system prints after a probe. */
const NEXT = String.raw`\+{1,3} \S|##\[|::|\[Pipeline\] |g?make: |ninja: `;
const CMAKE_NEXT =
  '-- |CMake (?:Error|Warning)|(?:Performing|Determining|Checking|Detecting|Compiling) ' +
  `.{1,200}(?:failed|passed) with the following|${NEXT}`;
const CMAKE_STATUS = new RegExp(String.raw`^-- .{0,100}\bChange Dir: .{0,300}${CMAKE_SCRATCH}`);
const CMAKE_OWN = /CMakeTmp|CMakeScratch|cmTC_/;

/** Probes as CMake, autoconf and Meson print or dump them. */
// biome-ignore format: one row for each tool
const PROBES: readonly Probe[] = [
  // CMake's try_compile, if a project prints its output, and in a copy of CMakeError.log or
  // CMakeConfigureLog.yaml
  { begins: new RegExp(String.raw`^\s{0,12}Change Dir: .{0,300}${CMAKE_SCRATCH}`),
    until: new RegExp(`^(?:${CMAKE_NEXT})`), own: CMAKE_OWN, after: /^-- (?:Configuring|Generating) done/ },
  // The same in a status message. Configuring continues after it, or reports what stops it.
  { begins: CMAKE_STATUS, until: new RegExp(`^(?:${CMAKE_NEXT})`), own: CMAKE_OWN },
  { begins: /^(?:Performing|Determining|Checking) .{1,200} failed with the following (?:compile )?output:/,
    until: new RegExp(`^(?:${CMAKE_NEXT})`), own: CMAKE_OWN },
  { begins: /^\s{2,6}kind: "try_(?:compile|run)-v\d"/,
    until: new RegExp(String.raw`^(?:\s{2,4}-$|\.\.\.$|${CMAKE_NEXT})`), own: CMAKE_OWN },
  // autoconf, in a copy of config.log
  { begins: new RegExp(`${CONFIGURE_LINE}(?!error:)`),
    until: new RegExp(`${CONFIGURE_LINE}|^(?:## -|${NEXT})`), own: /conftest|^\| / },
  // Meson, in a copy of meson-log.txt
  { begins: /^Running compile:$|^Command line: .{0,4000} -> \d{1,3}$/, until: MESON_RESULT,
    own: /testfile\.c/, after: 'end' },
];

/** Messages that the compiler itself does not work. Then the output of a probe is the cause. */
const NO_COMPILER = new RegExp(
  String.raw`is not able to compile a simple test program|^configure:\d{1,7}: error: .{0,40}` +
    String.raw`(?:compiler cannot create executables|cannot run C\S{0,3} compiled programs|` +
    'cannot compute suffix|compiler (?:does not|cannot))|' +
    'ERROR: Compiler .{1,200} cannot compile programs',
  'i',
);

/**
 * A line that cargo prints for the build script of a dependency, and the line that says that such a script
 * failed.
 */
const SCRIPT_OUTPUT = /^\[(?<crate>[\w-]{1,100}) \d{1,5}\.\d{1,5}\.\d{1,5}\S{0,40}\] /;
const SCRIPT_FAILED = /failed to run custom build command for `(?<crate>[\w-]{1,100}) v/;

/** Literals, case ignored. Every line that begins or ends a probe contains one of them. */
export const PROBE_LITERALS: readonly string[] = [
  'Change Dir: ',
  'with the following output:',
  'with the following compile output:',
  'kind: "try_',
  'configure:',
  'Running compile:',
  'Command line: ',
  'simple test program',
  'cannot compile programs',
  'custom build command for',
  '-- Configuring done',
  '-- Generating done',
  '] cargo:',
  '] running: ',
  ': error: ',
  ': fatal error: ',
  '] exit status: ',
];

/**
 * Finds the lines of feature probes. Their errors only show what the machine does not support. Probes are
 * kept if the compiler itself does not work, and output of a build script is kept if that script failed.
 */
export function readProbes(log: LogText, lines: readonly number[]): LineRange[] {
  const ranges: LineRange[] = [];
  const scripts = new Map<string, number[]>();
  const failedScripts = new Set<string>();
  let isBroken = false;
  for (const line of lines) {
    const text = log.line(line).trimEnd();
    isBroken ||= NO_COMPILER.test(text);
    const script = SCRIPT_OUTPUT.exec(text)?.groups?.crate;
    if (script !== undefined) scripts.set(script, [...(scripts.get(script) ?? []), line]);
    failedScripts.add(SCRIPT_FAILED.exec(text)?.groups?.crate ?? '');
    if (line <= (ranges.at(-1)?.end ?? 0)) continue;
    const probe = PROBES.find(({ begins }) => begins.test(text));
    if (probe === undefined) continue;
    const { until, own, after } = probe;
    const end = findLineBelow(log, line + 1, MAX_PROBE, (below) => until.test(below.trimEnd()));
    const last = end === null ? findLastOwn(log, line, own) : end - 1;
    const goesOn =
      after === undefined || (end !== null && (after === 'end' || end <= findLastLine(log, lines, after)));
    if (goesOn && ranges.length < MAX_PROBES) ranges.push({ start: line, end: last });
  }
  const ofScripts = [...scripts].flatMap(([crate, tests]) =>
    failedScripts.has(crate) ? [] : tests.map((line) => ({ start: line, end: line })),
  );
  return [...(isBroken ? [] : ranges), ...ofScripts];
}

function findLastOwn(log: LogText, from: number, pattern: RegExp): number {
  for (let line = Math.min(log.lineCount, from + MAX_PROBE); line > from; line--)
    if (pattern.test(log.line(line))) return line;
  return from;
}

function findLastLine(log: LogText, lines: readonly number[], pattern: RegExp): number {
  return lines.findLast((line) => pattern.test(log.line(line))) ?? 0;
}
