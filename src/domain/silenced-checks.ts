import { sumNumbers } from '../lib/collections.ts';
import { type LineChange, readChanges } from '../lib/patch-changes.ts';
import { findFileRole } from './file-role.ts';

/** A changed file in the form in which code hosts return it. */
export interface SilencingFile {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** The part of a unified diff that describes it. Null if none is known. */
  readonly patch: string | null;
}

/** The ways in which a change can make a check pass without fixing its findings. */
export type Silencing = 'skipped' | 'removed' | 'assertion removed' | 'suppressed' | 'allowed to fail';

/** The pattern of code that skips a test, in the usual languages and runners. */
const SKIPS = new RegExp(
  String.raw`\b(?:it|test|describe|context|specify|suite)\.(?:skip|todo|failing)\b|` +
    String.raw`\bx(?:it|describe|test|specify)\(|\bskip: ?(?:true|['"])|^ {0,40}skip\b|\bpending ['"(]|` +
    String.raw`\bpytest\.(?:mark\.)?(?:skip|xfail|skipif|importorskip)\b|\bskipTest\(|` +
    String.raw`\bunittest\.(?:skip|expectedFailure)|@(?:Disabled|Ignore|Ignored|Skip)\b|` +
    String.raw`\bt\.(?:Skip|Skipf|SkipNow|skip|todo)\(|#\[ignore|\bmarkTest(?:Skipped|Incomplete)\(|` +
    String.raw`\[(?:Fact|Theory)\(Skip|\[Ignore|\bassumeTrue\(`,
);
/** The pattern of settings and options that leave tests out, or let a failed job pass. */
const LENIENT = new RegExp(
  String.raw`continue-on-error: ?true|allow_failure: ?true|\|\| ?(?:true|:|exit 0)(?:\s|$)|\bset \+e\b|` +
    String.raw`--(?:passWithNoTests|deselect|ignore[= ]|no-verify)|-DskipTests|-Dmaven\.test\.skip|` +
    String.raw`testFailureIgnore|test\.failure\.ignore|ignoreFailures ?=? ?true|-x test\b|` +
    String.raw`\bif: ?(?:false|\$\{\{ ?false)|\b(?:testPathIgnorePatterns|collect_ignore)\b|-k ["']?not `,
);
/** The pattern of comments that suppress a linter or compiler. */
const SUPPRESSIONS = new RegExp(
  String.raw`eslint-disable|biome-ignore|@ts-(?:ignore|expect-error|nocheck)|# ?(?:noqa|nosec)\b|` +
    String.raw`# ?(?:type|pyright): ?ignore|# ?pylint: ?disable|@SuppressWarnings|#\[allow\(|` +
    String.raw`\/\/ ?(?:nolint|NOLINT|noinspection)|rubocop:disable|phpcs:ignore|@phpstan-ignore|` +
    `prettier-ignore|fmt: ?off|clang-format off`,
);
const ASSERTIONS = new RegExp(
  String.raw`\b(?:assert\w{0,40}|expect|should|ensure|verify|require\.\w{1,30}|t\.(?:Error|Fatal)f?|` +
    String.raw`refute\w{0,20}|toMatchSnapshot)[.(! ]`,
);
const MAX_LINE = 400;

/**
 * Finds how a change may have turned a failure green without fixing it: it skipped or removed a test, removed
 * an assertion, suppressed a linter, or let a job fail. Returns null if it shows none of these.
 */
export function findSilencing(files: readonly SilencingFile[]): Silencing | null {
  for (const file of files) {
    const role = findFileRole(file);
    if (role === 'test' && file.status === 'removed') return 'removed';
    const changes = file.patch === null ? [] : readChanges(file.patch);
    if (role === 'test' && brings(changes, SKIPS)) return 'skipped';
    if (role === 'test' && losesAssertions(changes)) return 'assertion removed';
    if (role !== 'document' && brings(changes, SUPPRESSIONS)) return 'suppressed';
    const isSetup = role === 'workflow' || role === 'settings' || role === 'dependency';
    if ((isSetup || SCRIPT.test(file.path)) && brings(changes, LENIENT)) return 'allowed to fail';
  }
  return null;
}

const SCRIPT = /\.(?:sh|bash|ps1|bat|cmd|mk|gradle|kts)$/;

/** Tells whether more added lines than removed lines match. */
function brings(changes: readonly LineChange[], pattern: RegExp): boolean {
  return sumNumbers(changes.map(({ added, removed }) => count(added, pattern) - count(removed, pattern))) > 0;
}

/** Tells whether assertions were removed and not replaced. */
function losesAssertions(changes: readonly LineChange[]): boolean {
  return brings(
    changes.map((change) => ({ ...change, added: change.removed, removed: change.added })),
    ASSERTIONS,
  );
}

function count(lines: readonly string[], pattern: RegExp): number {
  return lines.filter((line) => pattern.test(line.slice(0, MAX_LINE))).length;
}
