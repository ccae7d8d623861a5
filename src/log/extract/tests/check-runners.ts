import { matchGroups } from './block.ts';
import type { Named, Runner } from './shapes.ts';

/** A line that says what is wrong. Other lines only say what was done. */
const ERROR_WORDS = /error|fail|assert|exception|expect|panic|mismatch|not found|no such|!=|\bgot\b|\bwant/i;

/** Commands, separator lines, and names of streams around what a program printed. */
const FRAME = new RegExp(
  String.raw`^(?:>>>|[$+#]|\*{3,}|-{3}|RUN:)|^(?:Script|Command Output \(std\w{3}\)|` +
    String.raw`Exit Code: \d{1,4}|stdout|stderr):?$|\(exit status: \d{1,3}\)$`,
);

/**
 * Runners of a build system's `check` target, and the C test runners that it starts. Their tests are
 * programs; a line of result and the program's output are known. A new runner is a row here.
 */
// biome-ignore format: one row for each shape
export const CHECK_RUNNERS: readonly Runner[] = [
  { name: 'meson', literals: [' FAIL  ', ' TIMEOUT  ', ' ERROR  ', ' UNEXPECTEDPASS '], shapes: [
    { head: new RegExp(
        String.raw`^\s{0,6}\d{1,5}/\d{1,5} (?<name>\S.{0,200}?) (?:FAIL|(?<message>TIMEOUT)|ERROR|` +
        String.raw`UNEXPECTEDPASS)\s{1,20}\d{1,6}\.\d{1,3} ?s\b(?<ending>.{0,200})$`,
      ), body: 'open', until: /^\s{0,6}\d{1,5}\/\d{1,5} \S|^Summary of Failures:|^Ok: /, limit: 80,
      finish: readMesonTest },
  ] },
  { name: 'automake', literals: ['FAIL: ', 'ERROR: ', '# TOTAL:'], ran: /^# TOTAL:\s{1,8}\d/,
    fillsIn: 'alike', shapes: [
    // The output of a failed test is in the log under the test's name without its file extension, above the
    // result.
    { head: /^(?:FAIL|XPASS|ERROR): \S.{0,300}$/, next: /^={3,300}$/, body: 'open',
      until: /^(?:FAIL|ERROR|PASS|SKIP|XFAIL|XPASS): \S|^={20,300}$/, limit: 80, finish: readAutomakeTest },
    { head: /^(?:FAIL|XPASS|ERROR): (?<name>\S.{0,300})$/, next: /^(?!={3,300}$)/, body: 'none' },
  ] },
  { name: 'dejagnu', literals: ['FAIL: ', 'ERROR: ', 'UNRESOLVED: ', '# of '],
    ran: /^# of (?:expected passes|unexpected (?:failures|successes)|unresolved testcases)\s{1,20}\d/,
    shapes: [
    { head: /^(?:FAIL|UNRESOLVED): (?<name>\S.{0,300})$/, body: 'none' },
  ] },
  { name: 'lit', literals: [' of '], shapes: [
    { head: new RegExp(
        String.raw`^(?:FAIL|TIMEOUT|UNRESOLVED|XPASS): (?<suite>\S.{0,100}?)` +
        String.raw` :: (?<name>\S{1,300}) \(\d{1,7} of \d{1,7}\)$`,
      ), body: 'open', until: /^\*{20}$|^[A-Z]{4,12}: \S.{0,100} :: /, limit: 120, finish: readPrintedTest },
  ] },
  { name: 'check', literals: [':F:', ':E:'], shapes: [
    { head: new RegExp(
        String.raw`^(?<file>[^\s:]{1,300}\.\w{1,4}):(?<line>\d{1,7}):[FE]:(?<suite>[^:]{0,200})` +
        String.raw`:(?<name>[^:]{1,200}):\d{1,6}: (?<message>.{1,1000})$`,
      ), body: 'none' },
  ] },
  { name: 'unity', literals: [':FAIL'], shapes: [
    { head: new RegExp(
        String.raw`^(?<file>[^\s:]{1,300}\.\w{1,4}):(?<line>\d{1,7}):(?<name>\w{1,200})` +
        ':FAIL(?:: ?(?<message>.{1,1000}))?$',
      ), body: 'none' },
  ] },
];

/**
 * Reads what the program printed between the separator lines, or how it ended if that says more than that it
 * failed.
 */
function readMesonTest({ ending = '', ...named }: Named, body: readonly string[]): Named {
  const { suite, name } =
    matchGroups([named.name ?? ''], /^(?:(?<suite>\S.{0,200}) \/ )?(?<name>\S.{0,200})$/) ?? {};
  const killed = /killed by signal .{1,40}/.exec(ending)?.[0];
  return { ...named, suite, name, message: readPrintedMessage(body) ?? killed ?? named.message ?? '' };
}

/**
 * Reads a failed program. Returns null for a program that prints results of its own, because these are read
 * instead.
 */
function readAutomakeTest(_: Named, body: readonly string[]): Named | null {
  const name = matchGroups(body, /^(?:FAIL|XPASS|ERROR) (?<name>\S.{0,300}) \(exit status: \d{1,3}\)$/)?.name;
  return name === undefined ? null : { name, message: readPrintedMessage(body) ?? '' };
}

function readPrintedTest(named: Named, body: readonly string[]): Named {
  return { ...named, message: readPrintedMessage(body) ?? '' };
}

/**
 * Reads the first informative line of a program's output, skipping commands, separator lines and names of
 * streams.
 */
function readPrintedMessage(body: readonly string[]): string | undefined {
  const printed = body.map((text) => text.trim()).filter((text) => /\p{L}/u.test(text) && !FRAME.test(text));
  return printed.find((text) => ERROR_WORDS.test(text)) ?? printed[0];
}
