import { projectPath } from '../log/paths.ts';
import { hostOf } from './line-facts.ts';
import type { Match } from './rule.ts';
import { find, listed, oneLine, type Words } from './wording.ts';

/** Words for an answer, from the deciding line and the log; null where the words that they need are not there. */
type Saying = (words: Words) => string | null;

/** The title that a person would give a failure that a rule names well; null where the facts themselves say it better. */
export function titleOf(match: Match, words: Words): string | null {
  return TITLES[match.rule.name]?.(words) ?? null;
}

/** The cause in one to three sentences that name the thing, the place and the why; null where the rule that decided has none. */
export function reasonOf(match: Match, words: Words): string | null {
  return REASONS[match.rule.name]?.(words) ?? null;
}

const TITLES: Readonly<Record<string, Saying>> = {
  'npm-eresolve': (words) => {
    const found = find(words, /Found: (\S{1,120})/);
    const peer = /peer (\S{1,120}@"[^"\n]{1,80}") from (\S{1,120})/.exec(words.log);
    return found === null || peer === null ? null : `npm cannot install ${found} alongside ${peer[2]}`;
  },
  'npm-version-missing': (words) =>
    fill(words, 'The npm registry has no $', /No matching version found for (\S{1,120}?)[.\s]*$|'(\S{1,120})' is not in/m),
  'lockfile-out-of-step': (words) => {
    if (/go\.sum/.test(words.line)) return fill(words, 'go.sum has no entry for $', /package ([\w./-]{1,200})/);
    return (
      fill(words, 'The lock file is out of step with the manifest: $ is missing', /Missing: (\S{1,120}) from lock file/) ??
      'The lock file is out of step with the manifest'
    );
  },
  'pip-no-matching-distribution': (words) =>
    fill(
      words,
      'pip finds no release for $',
      /(?:No matching distribution found for|satisfies the requirement|requirement\.parse\(') ?(\S{1,120}?)(?:'\)|\s|$)/i,
    ),
  'pip-conflict': (words) => {
    const asked = find(words, /The user requested (\S{1,120})/);
    const needs = /^\s{2,8}(\S{1,80}) (\S{1,40}) depends on (\S{1,120})/m.exec(words.log);
    if (asked !== null && needs !== null) return `pip cannot install ${asked} alongside ${needs[1]} ${needs[2]}`;
    return fill(words, 'pip cannot install $ together', /Cannot install (.{1,160}?) because/);
  },
  'cargo-cannot-select': (words) => fill(words, 'No published version fits $', /requirement `([^`\n]{1,120})`/),
  'maven-unresolvable': (words) =>
    fill(words, 'Maven cannot find $', /Could not find artifact (\S{1,200})/) ??
    fill(words, 'Gradle cannot find $', /> Could not find (\S{1,200}?)\.?$/m),
  'library-not-found': (words) => fill(words, 'CMake cannot find the package $', /provided by "([^"\n]{1,80})"/),
  'command-not-found': (words) =>
    fill(words, 'The command $ is not installed on the runner', /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/),
  'build-program-missing': (words) =>
    fill(words, 'The build needs $, which is not installed', /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/i),
  'secret-missing': (words) => fill(words, 'The secret $ is not set', /\b([A-Z][A-Z0-9_]{3,80})\b/),
  'not-executable': (words) => fill(words, '$ is not executable', /([\w./-]{1,200}): [Pp]ermission denied/),
  'docker-daemon': () => 'No Docker daemon is running on the runner',
  'disk-full': () => "The runner's disk is full",
  'out-of-memory': (words) =>
    fill(words, '$ ran out of memory', /^([\w+./-]{1,60}): out of memory/m) ??
    (/JavaScript heap/.test(words.log)
      ? 'Node ran out of heap memory'
      : /Java heap space/.test(words.log)
        ? 'Java ran out of heap memory'
        : 'The build ran out of memory'),
  'killed-137': (words) =>
    fill(words, 'The process was killed while $ was running, most likely out of memory', /^\S{1,200}::(\S{1,80}) \S{0,100}: line/m) ??
    'The process was killed, most likely out of memory',
  'command-time-limit': (words) =>
    fill(words, '$ exceeded its time limit', /sending signal \w{1,10} to command [‘'`"]([^’'`"\n]{1,80})/) ??
    'A command exceeded its time limit',
  'name-resolution': (words) => ofHost(words, '$ cannot be resolved'),
  'connection-broken': (words) => ofHost(words, /timed? ?out/i.test(words.line) ? '$ did not answer in time' : '$ dropped the connection'),
  'tie-2-refused-by-foreign-service': (words) => ofHost(words, '$ refused the connection'),
  'tie-5-registry-was-down': (words) => {
    const status = find(words, /\b(50\d [A-Z]\w{2,20}(?: [A-Z]\w{2,20}){0,2})/, /\b(50\d)\b/);
    return ofHost(words, `$ answered ${status ?? 'with a server error'}`);
  },
  'tie-5-registry-refused-access': refusedAccessTitle,
  'credentials-refused': (words) => (/npm (?:ERR!|error)|registry/i.test(words.log) ? refusedAccessTitle(words) : null),
  'rate-limited': (words) => ofHost(words, '$ is rate limiting requests (429)'),
  'wrong-runtime-version': (words) => {
    const go = /requires go >= (\S{1,20}) \(running go (\S{1,20})[;)]/.exec(words.log);
    if (go !== null) return `go.mod needs Go ${go[1]}, the job runs Go ${go[2]}`;
    const npm = /Required: \{"node":"([^"\n]{1,60})"/.exec(words.log);
    const actual = find(words, /Actual: {1,6}\{[^\n]{0,60}"node":"([^"\n]{1,30})"/);
    return npm === null
      ? null
      : `The job's Node${actual === null ? '' : ` ${actual}`} is outside the range ${npm[1]} that the project allows`;
  },
  'manifest-malformed': (words) =>
    fill(words, '$ is malformed', /Invalid ([\w.-]{1,60}\.json)/, /([\w./-]{1,120}\.(?:json|toml|ya?ml|xml))\b/),
  'import-name-gone': (words) => {
    const found = /cannot import name '?(\w{1,80})'? from (?:partially initialized module )?'?([\w.]{1,120})/.exec(words.log);
    return found === null ? null : `The installed ${found[2]} has no ${found[1]}, which the code imports`;
  },
  'segmentation-fault': (words) => {
    const { target, signal } = makeSignal(words) ?? {};
    const what =
      signal === undefined || signal.startsWith('Segmentation') ? 'crashes with a segmentation fault' : `is ended by a signal: ${signal}`;
    return target === undefined ? 'A program crashes with a segmentation fault' : `A program run by make ${target} ${what}`;
  },
  'undefined-reference': (words) => fill(words, 'No linked library defines $', /undefined reference to [`'"‘]([^`'"’\n]{1,120})/),
  'script-path-missing': missingFileTitle,
  'path-missing': missingFileTitle,
};

function refusedAccessTitle(words: Words): string {
  const status = find(words, /\bE(40[13])\b/, /\b(40[13])\b/);
  const answered = status === null ? 'refused access' : `refused access (${status})`;
  return ofHost(words, `$ ${answered}`) ?? `The package registry ${answered}`;
}

function missingFileTitle(words: Words): string | null {
  return fill(words, 'The build cannot find $', /no such file or directory, \w{1,10} '(?:[^'\n]{0,200}\/)?([^'/\n]{1,80})'/);
}

const REASONS: Readonly<Record<string, Saying>> = {
  'npm-eresolve': (words) => {
    const wanted = find(words, /Found: (\S{1,120})/);
    const peer = /peer (\S{1,120}@"[^"\n]{1,80}") from (\S{1,120})/.exec(words.log);
    if (wanted === null || peer === null) return null;
    return `${peer[2]} requires ${peer[1]?.replaceAll('"', '')}, but the project asks for ${wanted}. No set of versions satisfies both.`;
  },
  'npm-version-missing': (words) =>
    fill(
      words,
      'The manifest asks for $, but the registry has no such package or version.',
      /No matching version found for (\S{1,120}?)[.\s]/,
      /'(\S{1,120})' is not in/,
    ),
  'lockfile-out-of-step': (words) => {
    const module = find(words, /missing go\.sum entry for module providing package ([\w./-]{1,200})/);
    if (module !== null)
      return `${place(words) ?? 'The code'} imports ${module}, but go.sum has no checksum for the module that provides it. go.sum was not updated, or not committed, together with go.mod.`;
    const missing = [...new Set(Array.from(words.log.matchAll(/Missing: (\S{1,120}) from lock file/g), ([, name]) => name ?? ''))];
    const what = missing.length === 0 ? '' : ` It lacks ${listed(missing)}.`;
    return `The manifest was changed but the lock file was not updated with it, so the frozen install fails.${what}`;
  },
  'pip-no-matching-distribution': (words) => {
    const wanted = find(words, /No matching distribution found for (\S{1,120})/, /satisfies the requirement (\S{1,120})/);
    const offered = find(words, /\(from versions: ([^)\n]{1,2000})\)/);
    if (wanted === null) return null;
    if (offered === null || /^none$/i.test(offered))
      return `The requirements ask for ${wanted}, but the package index has no release of it for this Python.`;
    return `The requirements ask for ${wanted}. The package index has no such release; the newest is ${offered.split(', ').at(-1)}.`;
  },
  'pip-conflict': (words) => {
    const asked = find(words, /The user requested (\S{1,120})/);
    const needs = /^\s{2,8}(\S{1,80} \S{1,40}) depends on (\S{1,120})/m.exec(words.log);
    return needs === null
      ? null
      : `${needs[1]} needs ${needs[2]}${asked === null ? '' : `, but the requirements ask for ${asked}`}. pip finds no set of versions that satisfies both.`;
  },
  'cargo-cannot-select': (words) => {
    const wanted = find(words, /requirement `([^`\n]{1,120})`/);
    const offered = find(words, /candidate versions found which didn't match: ([^\n]{1,200})/);
    const by = find(words, /required by package `(\S{1,80} \S{1,40})/);
    if (wanted === null) return null;
    return `${by ?? 'The project'} requires ${wanted}, but the registry has no release in that range${offered === null ? '' : ` (it has ${offered.replace(/,? \.\.\.$/, ' and older')})`}.`;
  },
  'maven-unresolvable': (words) => {
    const artifact = find(words, /Could not find artifact (\S{1,200})/, /> Could not find (\S{1,200}?)\.?$/m);
    const where = /Could not find artifact \S{1,200} in (\S{1,80} \([^)\n]{1,200}\))/.exec(words.log)?.[1];
    const project = find(words, /on project ([\w.-]{1,100})/);
    return artifact === null
      ? null
      : `${project ?? 'The project'} depends on ${artifact}, but ${where === undefined ? 'the repository' : `the repository ${where}`} has no such artifact.`;
  },
  'library-not-found': (words) => {
    const name = find(words, /provided by "([^"\n]{1,80})"/);
    return name === null
      ? null
      : `${place(words) ?? 'CMake'} looks for the package ${name}, but nothing on the runner provides it: no step installs it, or its prefix is not on the search path.`;
  },
  'command-not-found': missingCommand,
  'build-program-missing': missingCommand,
  'secret-missing': (words) => {
    const name = find(words, /\b([A-Z][A-Z0-9_]{3,80})\b/);
    return name === null ? null : `${scriptPlace(words.line) ?? 'The step'} needs ${name}, but the job did not set it.`;
  },
  'not-executable': (words) =>
    fill(
      words,
      'The shell is not allowed to run $: the file is not executable, most likely because it was committed without the executable bit.',
      /([\w./-]{1,200}): [Pp]ermission denied/,
    ),
  'docker-daemon': (words) => {
    const socket = find(words, /(unix:\/\/\S{1,120}?)\.?(?:\s|$)/, /(tcp:\/\/\S{1,120}?)\.?(?:\s|$)/);
    return `The docker command found no daemon${socket === null ? '' : ` at ${socket}`}, so no image can be built or run on this runner.`;
  },
  'disk-full': (words) => {
    const goal = find(words, /Failed to execute goal ([\w.-]{1,80}:[\w.-]{1,80})/);
    return `A file could not be written because there was no space left on the device${goal === null ? '' : ` while ${goal} was running`}.`;
  },
  'out-of-memory': (words) => {
    const who = find(
      words,
      /^([\w+./-]{1,60}): out of memory/m,
      /(JavaScript heap) out of memory/,
      /OutOfMemoryError: (Java heap space|Metaspace|GC overhead limit exceeded)/,
    );
    return `${who ?? 'A process'} requested more memory than allowed and was terminated: ${oneLine(words.line, 160)}.`;
  },
  'killed-137': (words) => {
    const running = find(words, /^(\S{1,200}::\S{1,200}) \S{0,100}: line/m);
    return `The process was killed by SIGKILL from outside (exit code 137)${running === null ? '' : ` while ${running} was running`}. This typically happens when a memory limit is reached.`;
  },
  'command-time-limit': (words) => {
    const command = find(words, /sending signal \w{1,10} to command [‘'`"]([^’'`"\n]{1,120})/);
    const limit = find(words, /\btimeout (?:-\S{1,30} |--\S{1,30} ){0,4}(\d{1,6}[smhd]?)\b/, /time limit of this step: ([^\n]{1,40})/);
    return `${command ?? 'A command'} was still running when its time limit${limit === null ? '' : ` (${limit.replace(/^\d+$/, '$& seconds')})`} expired, so it was terminated (exit code 124).`;
  },
  'name-resolution': (words) =>
    ofHost(words, "The job could not resolve $: the name is wrong or no longer exists, or the runner's DNS is not responding."),
  'connection-broken': (words) => {
    const what = oneLine(words.line.replace(/^\S{1,40}: (?:\(\d{1,3}\) )?/, ''), 100);
    return ofHost(words, `The connection to $ failed (${what}). Nothing in the log points to the project itself.`);
  },
  'tie-2-refused-by-foreign-service': (words) =>
    ofHost(words, 'The job tried to connect to $, an external service, but nothing accepted the connection.'),
  'tie-5-registry-was-down': (words) => {
    const status = find(words, /\b((?:429|50\d) [A-Z][\w ]{2,40}?)(?= - |$|[.:,])/m, /\b(429|50\d)\b/);
    return ofHost(
      words,
      `A request to $ was answered with ${status ?? 'a server error'}. The server failed; the request itself was not the problem.`,
    );
  },
  'tie-5-registry-refused-access': refusedAccess,
  'credentials-refused': (words) => (/npm (?:ERR!|error)|registry|pull access|docker/i.test(words.log) ? refusedAccess(words) : null),
  'rate-limited': (words) => ofHost(words, '$ refused because it received too many requests (HTTP 429).'),
  'wrong-runtime-version': (words) => {
    const go = /requires go >= (\S{1,20}) \(running go (\S{1,20})[;)]/.exec(words.log);
    if (go !== null) return `go.mod requires Go ${go[1]} or newer, but the job runs Go ${go[2]}.`;
    const npm = /Required: \{"node":"([^"\n]{1,60})"/.exec(words.log);
    const actual = find(words, /Actual: {1,6}\{[^\n]{0,60}"node":"([^"\n]{1,30})"/);
    const who = find(words, /version of node\/npm: (\S{1,100})/);
    return npm === null
      ? null
      : `${who ?? 'The project'} allows only Node ${npm[1]}, but the job runs Node ${actual ?? 'of another version'}.`;
  },
  'manifest-malformed': (words) => {
    const file = find(words, /Invalid ([\w.-]{1,60}\.json)/, /([\w./-]{1,120}\.(?:json|toml|ya?ml|xml))\b/);
    const why = find(words, /(?:JSONParseError|SyntaxError|ParseError): ([^\n]{1,200}?)(?: while parsing|$)/m);
    return file === null ? null : `${file} is malformed, so it cannot be parsed${why === null ? '' : `: ${oneLine(why, 160)}`}.`;
  },
  'import-name-gone': (words) => {
    const found = /cannot import name '?(\w{1,80})'? from (?:partially initialized module )?'?([\w.]{1,120})/.exec(words.log);
    return found === null
      ? null
      : `${importerIn(words) ?? 'The code'} imports ${found[1]} from ${found[2]}, but the installed version of ${found[2]} does not have it: the two versions are incompatible.`;
  },
  'undefined-reference': (words) => {
    const symbols = [
      ...new Set(Array.from(words.log.matchAll(/undefined reference to [`'"‘]([^`'"’\n]{1,120})/g), ([, name]) => name ?? '')),
    ];
    return symbols.length === 0
      ? null
      : `${place(words) ?? 'The code'} uses ${listed(symbols)}, but no object or library on the linker's command line defines ${symbols.length === 1 ? 'it' : 'them'}.`;
  },
  'script-path-missing': missingFile,
  'path-missing': missingFile,
  'segmentation-fault': (words) => {
    const { target, signal } = makeSignal(words) ?? {};
    const before = lineBefore(words);
    const ran = target === undefined ? '' : ` that \`make ${target}\` ran`;
    const how =
      signal === undefined || signal.startsWith('Segmentation')
        ? 'accessed memory that it does not own (signal 11)'
        : `was ended by a signal: ${signal}`;
    return `The program${ran} ${how}.${before === null ? '' : ` The last thing it printed was "${oneLine(before, 100)}".`}`;
  },
};

/** Finds the target of make whose command a signal ended, and the signal as make names it; no signal where it only gives the code. */
function makeSignal({ log }: Words): { readonly target: string; readonly signal: string | undefined } | null {
  const pattern =
    /make(?:\[\d{1,3}\])?: \*\*\* \[(?:[^\]\n]{1,300}: )?(?<target>[^\]\n]{1,80})\] (?:Error 139|(?<signal>Segmentation fault|Abort[a-z]{0,3}|Bus error|Floating point exception|Illegal instruction))/;
  const { target, signal } = pattern.exec(log)?.groups ?? {};
  return target === undefined ? null : { target, signal };
}

function refusedAccess(words: Words): string {
  const status = find(words, /\bE(401|403)\b/, /\b(401|403)\b/) ?? '401';
  const empty = find(words, /^ {2,8}([A-Z][A-Z0-9_]{2,60}(?:TOKEN|KEY|SECRET|PASSWORD)[A-Z0-9_]{0,20}): ?$/m);
  const why = empty === null ? 'the credentials used by this step are missing, expired or not authorized' : `${empty} is empty in this job`;
  return `The registry answered ${status} (access refused): ${why}.`;
}

function missingFile(words: Words): string | null {
  const path = find(words, /no such file or directory, \w{1,10} '([^'\n]{1,300})'/);
  return path === null
    ? null
    : `The step looks for ${path}, but there is no such file: it runs in the wrong folder, or the file was not created or checked out.`;
}

function missingCommand(words: Words): string | null {
  const name = find(words, /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/i);
  return name === null
    ? null
    : `${scriptPlace(words.line) ?? 'The step'} calls ${name}, but no program with that name is installed on the runner.`;
}

/** "./deploy/publish.sh: line 5:" → "deploy/publish.sh:5". */
function scriptPlace(line: string): string | null {
  const found = /^(?:\.\/)?([\w./-]{1,200}): (?:line )?(\d{1,6}): /.exec(line);
  return found === null || found[1]?.startsWith('/tmp/') ? null : `${found[1]}:${found[2]}`;
}

function place({ facts }: Words): string | null {
  const entry = facts.subject.diagnostics.find((one) => one.severity === 'error' && one.file !== null);
  return entry?.file == null ? null : `${projectPath(entry.file)}${entry.line === null ? '' : `:${entry.line}`}`;
}

/** What is above the deciding line. */
function lineBefore({ line, facts }: Words): string | null {
  const lines = facts.shown.split('\n').map((one) => one.trim());
  const before = lines[lines.findIndex((one) => one.includes(line.trim())) - 1];
  return before === undefined || before.length < 3 ? null : before;
}

function fill(words: Words, sentence: string, ...patterns: readonly RegExp[]): string | null {
  const word = find(words, ...patterns);
  return word === null ? null : sentence.replace('$', () => word);
}

/** The installed package whose code imports what is gone. */
export function importerIn({ facts }: Words): string | undefined {
  const places = facts.subject.exceptions.map(({ frames }) => /(?:site|dist)-packages\/([\w.-]{1,80})\//.exec(frames[0]?.file ?? '')?.[1]);
  return places.find((name) => name !== undefined);
}

/** A sentence about the host that the deciding line, or the log's only download, names. */
function ofHost(words: Words, sentence: string): string | null {
  const host = hostOf(words.line) ?? downloadHost(words.log);
  return host === null ? null : sentence.replace('$', () => host);
}

/** The host that the log's only download names. */
export function downloadHost(log: string): string | null {
  const hosts = new Set(
    Array.from(log.matchAll(/\b(?:curl|wget|GET|Downloading|fetch)\b[^\n]{0,200}?https?:\/\/([\w.-]{3,200})/g), ([, host]) => host ?? ''),
  );
  const [only] = hosts;
  return hosts.size === 1 ? (only ?? null) : null;
}
