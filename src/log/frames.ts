import type { StackFrame } from '../domain/failure.ts';

/**
 * Forms of a stack frame in different runtimes, with the groups `file`, `line` and, if the runtime prints it,
 * `fn`.
 */
const SHAPES: readonly RegExp[] = [
  new RegExp(
    String.raw`^\s{0,20}at (?:[\w.@-]{1,80}/{1,2}){0,3}(?<fn>[\w$.<>]{1,300})` +
      String.raw`\((?<file>[\w$.-]{1,120}\.(?:java|kt|scala|groovy|clj)):?(?<line>\d{1,7})?\)`,
  ),
  /^\s{1,20}File "(?<file>[^"\n]{1,300})", line (?<line>\d{1,7})(?:, in (?<fn>[^\n]{1,200}))?/,
  new RegExp(
    String.raw`^\s{0,20}at (?:async )?(?<fn>[\w$.<>[\] /#]{1,200}?) \((?<file>(?:file://|webpack://|` +
      String.raw`node:)?[^()\n:]{1,300}|[A-Za-z]:\\[^()\n:]{1,300}):(?<line>\d{1,7}):\d{1,6}\)`,
  ),
  new RegExp(
    String.raw`^\s{0,20}at (?:async )?(?:file://)?(?<file>(?:[A-Za-z]:)?[^\s():]{1,300}\.\w{1,5})` +
      String.raw`:(?<line>\d{1,7}):\d{1,6}`,
  ),
  /^\s{0,20}at (?:[\w.@-]{1,80}\/{1,2}){0,3}(?<fn>[\w$.<>]{1,300})\((?<file>Unknown Source|Native Method)\)/,
  /^\s{0,20}at (?<fn>[\w.`<>[\],+ ]{1,200})\([^()\n]{0,300}\) in (?<file>[^\n:]{0,3}[^\n:]{1,300}):line (?<line>\d{1,7})/,
  /^\s{0,20}(?:from )?(?<file>[^\s:()]{1,300}\.rb):(?<line>\d{1,7}):in [`'](?<fn>[^'\n]{1,200})'/,
  /^\s{0,20}#\d{1,4} (?<file>[^\s()]{1,300}\.php)\((?<line>\d{1,7})\)(?:: (?<fn>[\w\\:>-]{1,200})\()?/,
  new RegExp(
    String.raw`^\s{0,20}#\d{1,4} {1,3}(?:0x[0-9a-f]{1,16} )?(?:in )?(?<fn>[^\n]{1,200}?)` +
      String.raw` (?:\([^\n]{0,200}?\) )?(?:at )?(?<file>/?[^\s():]{1,300}\.\w{1,4}):(?<line>\d{1,7})`,
  ),
  /^\t(?<file>\/?[^\s:]{1,300}\.go):(?<line>\d{1,7})(?: \+0x[0-9a-f]{1,16})?$/,
  /^\s{1,40}at (?<file>\.{0,2}\/?[^\s:()]{1,300}\.rs):(?<line>\d{1,7})/,
  new RegExp(
    String.raw`^\s{0,20}(?:at|by) 0x[0-9A-Fa-f]{1,16}: (?<fn>[^\n]{1,200}?)` +
      String.raw` \((?<file>[^\s():]{1,300}\.\w{1,4}):(?<line>\d{1,7})\)$`,
  ),
  new RegExp(
    String.raw`^#\d{1,4} {2,10}(?<fn>[^\n]{1,200}?) \((?<file>(?:file://|package:|` +
      String.raw`dart:)[^\s():]{1,300}):(?<line>\d{1,7})(?::\d{1,6})?\)$`,
  ),
  new RegExp(
    String.raw`^\s{4,12}(?:\((?<app>[\w.]{1,60}) [\w.+-]{1,40}\) )?(?<file>[^\s:()]{1,300}\.(?:exs?|` +
      String.raw`erl)):(?<line>\d{1,7}): (?<fn>[^\n]{1,200})$`,
  ),
  /^\s{1,4}❯ (?:(?<fn>[\w$.<>]{1,200}) )?(?<file>[^\s:()]{1,300}\.\w{1,5}):(?<line>\d{1,7}):\d{1,6}$/,
  /^(?<file>[\w./-]{1,200}\.(?:py)):(?<line>\d{1,7}): (?:in (?<fn>[\w<>]{1,100})|[A-Z]\w{1,60}|$)/,
];

const FOREIGN = new RegExp(
  'node_modules|site-packages|dist-packages|/usr/(?:lib|local/lib|include)|/lib/(?:python|' +
    String.raw`ruby)|/gems/|/rustc/|/\.cargo/|/vendor/|/pkg/mod/|/go/src/(?![\w-]{1,40}\.[a-z]{2,6}/)|` +
    'hostedtoolcache|^node:|^dart:|^internal/|^<|Unknown Source|Native Method|^(?:events|fs|' +
    String.raw`module|net|timers|util|vm|domain|_stream_\w{1,20}|bootstrap_node|assert)\.js$|` +
    String.raw`^lib/internal|/python\d(?:\.\d{1,2})?/|/library/(?:std|core|` +
    'alloc|test)/|^src/lib(?:std|core|test)/',
);

const FOREIGN_FUNCTION = new RegExp(
  String.raw`^(?:java[x]?|jdk|sun|com\.sun|org\.(?:junit|testng|apache|gradle|mockito|hamcrest|` +
    'assertj|springframework|hibernate|codehaus|eclipse|slf4j|scalatest)|kotlin|kotlinx|scala|' +
    String.raw`groovy|clojure|System|Microsoft|NUnit|Xunit|junit|android|okhttp3|io\.netty|reactor|` +
    String.raw`com\.google|std|core|alloc|__rust_\w{1,40}|testing|runtime|reflect)[.:]`,
);

/** Applications that are part of Elixir and Erlang. */
const FOREIGN_APPS = /^(?:elixir|stdlib|kernel|ex_unit|mix|eex|iex|logger|compiler|erts)$/;

/**
 * Reads one line of a stack trace. Returns null if it is not a frame. `own` is false for code of libraries,
 * runtimes and test runners.
 */
export function readFrame(line: string): StackFrame | null {
  if (line.length > 1_000) return null;
  for (const pattern of SHAPES) {
    const groups = pattern.exec(line)?.groups;
    if (groups === undefined) continue;
    const { file = '', line: number, fn, app = '' } = groups;
    const name = fn?.trim() ?? null;
    const isOwn =
      !isForeignFile(file) && !(name !== null && FOREIGN_FUNCTION.test(name)) && !FOREIGN_APPS.test(app);
    return { file, line: number === undefined ? null : Number(number), function: name, own: isOwn };
  }
  return null;
}

/** Checks by its path whether a file belongs to a library, a runtime or a test runner. */
export function isForeignFile(file: string): boolean {
  return FOREIGN.test(file);
}
