import { projectPath } from './paths.ts';
import type { Match } from './rule.ts';
import { hostOf } from './services.ts';
import { find, listed, oneLine, type Wording } from './wording.ts';

/** One to three sentences that name the thing, the place and the why; null where the log lacks the words they need. */
type Reason = (told: Wording) => string | null;

/** The cause in sentences, where the rule that decided knows how to tell it. */
export function reasonOf(match: Match, told: Wording): string | null {
  return REASONS[match.rule.name]?.(told) ?? null;
}

const REASONS: Readonly<Record<string, Reason>> = {
  'npm-eresolve': (told) => {
    const wanted = find(told, /Found: (\S{1,120})/);
    const peer = /peer (\S{1,120}@"[^"\n]{1,80}") from (\S{1,120})/.exec(told.log);
    if (wanted === null || peer === null) return null;
    return `${peer[2]} requires ${peer[1]?.replaceAll('"', '')}, but the project asks for ${wanted}. No set of versions satisfies both.`;
  },
  'npm-version-missing': (told) =>
    fill(
      told,
      'The manifest asks for $, but the registry has no such package or version.',
      /No matching version found for (\S{1,120}?)[.\s]/,
      /'(\S{1,120})' is not in/,
    ),
  'lockfile-out-of-step': (told) => {
    const module = find(told, /missing go\.sum entry for module providing package ([\w./-]{1,200})/);
    if (module !== null)
      return `${place(told) ?? 'The code'} imports ${module}, but go.sum has no checksum for the module that provides it. go.sum was not updated, or not committed, together with go.mod.`;
    const missing = [...new Set(Array.from(told.log.matchAll(/Missing: (\S{1,120}) from lock file/g), ([, name]) => name ?? ''))];
    const what = missing.length === 0 ? '' : ` It lacks ${listed(missing)}.`;
    return `The manifest was changed but the lock file was not updated with it, so the frozen install fails.${what}`;
  },
  'pip-no-matching-distribution': (told) => {
    const wanted = find(told, /No matching distribution found for (\S{1,120})/, /satisfies the requirement (\S{1,120})/);
    const offered = find(told, /\(from versions: ([^)\n]{1,2000})\)/);
    if (wanted === null) return null;
    if (offered === null || /^none$/i.test(offered))
      return `The requirements ask for ${wanted}, but the package index has no release of it for this Python.`;
    return `The requirements ask for ${wanted}. The package index has no such release; the newest is ${offered.split(', ').at(-1)}.`;
  },
  'pip-conflict': (told) => {
    const asked = find(told, /The user requested (\S{1,120})/);
    const needs = /^\s{2,8}(\S{1,80} \S{1,40}) depends on (\S{1,120})/m.exec(told.log);
    return needs === null
      ? null
      : `${needs[1]} needs ${needs[2]}${asked === null ? '' : `, but the requirements ask for ${asked}`}. pip finds no set of versions that satisfies both.`;
  },
  'cargo-cannot-select': (told) => {
    const wanted = find(told, /requirement `([^`\n]{1,120})`/);
    const offered = find(told, /candidate versions found which didn't match: ([^\n]{1,200})/);
    const by = find(told, /required by package `(\S{1,80} \S{1,40})/);
    if (wanted === null) return null;
    return `${by ?? 'The project'} requires ${wanted}, but the registry has no release in that range${offered === null ? '' : ` (it has ${offered.replace(/,? \.\.\.$/, ' and older')})`}.`;
  },
  'maven-unresolvable': (told) => {
    const artifact = find(told, /Could not find artifact (\S{1,200})/, /> Could not find (\S{1,200}?)\.?$/m);
    const where = /Could not find artifact \S{1,200} in (\S{1,80} \([^)\n]{1,200}\))/.exec(told.log)?.[1];
    const project = find(told, /on project ([\w.-]{1,100})/);
    return artifact === null
      ? null
      : `${project ?? 'The project'} depends on ${artifact}, but ${where === undefined ? 'the repository' : `the repository ${where}`} has no such artifact.`;
  },
  'library-not-found': (told) => {
    const name = find(told, /provided by "([^"\n]{1,80})"/);
    return name === null
      ? null
      : `${place(told) ?? 'CMake'} looks for the package ${name}, but nothing on the runner provides it: no step installs it, or its prefix is not on the search path.`;
  },
  'command-not-found': (told) => missingCommand(told),
  'build-program-missing': (told) => missingCommand(told),
  'secret-missing': (told) => {
    const name = find(told, /\b([A-Z][A-Z0-9_]{3,80})\b/);
    return name === null ? null : `${scriptPlace(told.said) ?? 'The step'} needs ${name}, but the job did not set it.`;
  },
  'not-executable': (told) =>
    fill(
      told,
      'The shell is not allowed to run $: the file is not executable, most likely because it was committed without the executable bit.',
      /([\w./-]{1,200}): [Pp]ermission denied/,
    ),
  'docker-daemon': (told) => {
    const socket = find(told, /(unix:\/\/\S{1,120}?)\.?(?:\s|$)/, /(tcp:\/\/\S{1,120}?)\.?(?:\s|$)/);
    return `The docker command found no daemon${socket === null ? '' : ` at ${socket}`}, so no image can be built or run on this runner.`;
  },
  'disk-full': (told) => {
    const goal = find(told, /Failed to execute goal ([\w.-]{1,80}:[\w.-]{1,80})/);
    return `A file could not be written because there was no space left on the device${goal === null ? '' : ` while ${goal} was running`}.`;
  },
  'out-of-memory': (told) => {
    const who = find(
      told,
      /^([\w+./-]{1,60}): out of memory/m,
      /(JavaScript heap) out of memory/,
      /OutOfMemoryError: (Java heap space|Metaspace|GC overhead limit exceeded)/,
    );
    return `${who ?? 'A process'} requested more memory than allowed and was terminated: ${oneLine(told.said, 160)}.`;
  },
  'killed-137': (told) => {
    const running = find(told, /^(\S{1,200}::\S{1,200}) \S{0,100}: line/m);
    return `The process was killed by SIGKILL from outside (exit code 137)${running === null ? '' : ` while ${running} was running`}. This typically happens when a memory limit is reached.`;
  },
  'command-time-limit': (told) => {
    const command = find(told, /sending signal \w{1,10} to command [‘'`"]([^’'`"\n]{1,120})/);
    const limit = find(told, /\btimeout (?:-\S{1,30} |--\S{1,30} ){0,4}(\d{1,6}[smhd]?)\b/, /time limit of this step: ([^\n]{1,40})/);
    return `${command ?? 'A command'} was still running when its time limit${limit === null ? '' : ` (${limit.replace(/^\d+$/, '$& seconds')})`} expired, so it was terminated (exit code 124).`;
  },
  'name-resolution': (told) =>
    fromHost(told, "The job could not resolve $: the name is wrong or no longer exists, or the runner's DNS is not responding."),
  'connection-broken': (told) => {
    const what = oneLine(told.said.replace(/^\S{1,40}: (?:\(\d{1,3}\) )?/, ''), 100);
    return fromHost(told, `The connection to $ failed (${what}). Nothing in the log points to the project itself.`);
  },
  'tie-2-refused-by-foreign-service': (told) =>
    fromHost(told, 'The job tried to connect to $, an external service, but nothing accepted the connection.'),
  'tie-5-registry-was-down': (told) => {
    const status = find(told, /\b((?:429|50\d) [A-Z][\w ]{2,40}?)(?= - |$|[.:,])/m, /\b(429|50\d)\b/);
    return fromHost(
      told,
      `A request to $ was answered with ${status ?? 'a server error'}. The server failed; the request itself was not the problem.`,
    );
  },
  'tie-5-registry-refused-access': refusedAccess,
  'credentials-refused': (told) => (/npm (?:ERR!|error)|registry|pull access|docker/i.test(told.log) ? refusedAccess(told) : null),
  'rate-limited': (told) => fromHost(told, '$ refused because it received too many requests (HTTP 429).'),
  'wrong-runtime-version': (told) => {
    const go = /requires go >= (\S{1,20}) \(running go (\S{1,20})[;)]/.exec(told.log);
    if (go !== null) return `go.mod requires Go ${go[1]} or newer, but the job runs Go ${go[2]}.`;
    const npm = /Required: \{"node":"([^"\n]{1,60})"/.exec(told.log);
    const actual = find(told, /Actual: {1,6}\{[^\n]{0,60}"node":"([^"\n]{1,30})"/);
    const who = find(told, /version of node\/npm: (\S{1,100})/);
    return npm === null
      ? null
      : `${who ?? 'The project'} allows only Node ${npm[1]}, but the job runs Node ${actual ?? 'of another version'}.`;
  },
  'manifest-malformed': (told) => {
    const file = find(told, /Invalid ([\w.-]{1,60}\.json)/, /([\w./-]{1,120}\.(?:json|toml|ya?ml|xml))\b/);
    const why = find(told, /(?:JSONParseError|SyntaxError|ParseError): ([^\n]{1,200}?)(?: while parsing|$)/m);
    return file === null ? null : `${file} is malformed, so it cannot be parsed${why === null ? '' : `: ${oneLine(why, 160)}`}.`;
  },
  'import-name-gone': (told) => {
    const found = /cannot import name '?(\w{1,80})'? from (?:partially initialized module )?'?([\w.]{1,120})/.exec(told.log);
    const user = told.facts.subject.exceptions
      .flatMap(({ frames }) => frames.slice(0, 1).map(({ file }) => /(?:site|dist)-packages\/([\w.-]{1,80})\//.exec(file)?.[1]))
      .find((name) => name !== undefined);
    return found === null
      ? null
      : `${user ?? 'The code'} imports ${found[1]} from ${found[2]}, but the installed version of ${found[2]} does not have it: the two versions are incompatible.`;
  },
  'undefined-reference': (told) => {
    const symbols = [
      ...new Set(Array.from(told.log.matchAll(/undefined reference to [`'"‘]([^`'"’\n]{1,120})/g), ([, name]) => name ?? '')),
    ];
    return symbols.length === 0
      ? null
      : `${place(told) ?? 'The code'} uses ${listed(symbols)}, but no object or library on the linker's command line defines ${symbols.length === 1 ? 'it' : 'them'}.`;
  },
  'script-path-missing': missingFile,
  'path-missing': missingFile,
  'segmentation-fault': (told) => {
    const make = find(told, /make(?:\[\d\])?: \*\*\* \[(?:[^\]\n]{1,100}: )?([^\]\n]{1,80})\] (?:Error 139|Segmentation)/);
    const before = lineBefore(told);
    return `The program${make === null ? '' : ` that \`make ${make}\` ran`} accessed memory that it does not own (signal 11).${before === null ? '' : ` The last thing it printed was "${oneLine(before, 100)}".`}`;
  },
};

function refusedAccess(told: Wording): string {
  const status = find(told, /\bE(401|403)\b/, /\b(401|403)\b/) ?? '401';
  const empty = find(told, /^ {2,8}([A-Z][A-Z0-9_]{2,60}(?:TOKEN|KEY|SECRET|PASSWORD)[A-Z0-9_]{0,20}): ?$/m);
  const why = empty === null ? 'the credentials used by this step are missing, expired or not authorized' : `${empty} is empty in this job`;
  return `The registry answered ${status} (access refused): ${why}.`;
}

function missingFile(told: Wording): string | null {
  const path = find(told, /no such file or directory, \w{1,10} '([^'\n]{1,300})'/);
  return path === null
    ? null
    : `The step looks for ${path}, but there is no such file: it runs in the wrong folder, or the file was not created or checked out.`;
}

function missingCommand(told: Wording): string | null {
  const name = find(told, /(?:^|[\s:])([\w+.-]{1,60}): (?:command )?not found/i);
  return name === null
    ? null
    : `${scriptPlace(told.said) ?? 'The step'} calls ${name}, but no program with that name is installed on the runner.`;
}

/** "./deploy/publish.sh: line 5:" → "deploy/publish.sh:5". */
function scriptPlace(said: string): string | null {
  const found = /^(?:\.\/)?([\w./-]{1,200}): (?:line )?(\d{1,6}): /.exec(said);
  return found === null || found[1]?.startsWith('/tmp/') ? null : `${found[1]}:${found[2]}`;
}

function place({ facts }: Wording): string | null {
  const entry = facts.subject.diagnostics.find((one) => one.severity === 'error' && one.file !== null);
  return entry?.file == null ? null : `${projectPath(entry.file)}${entry.line === null ? '' : `:${entry.line}`}`;
}

/** What stands above the deciding line. */
function lineBefore({ said, facts }: Wording): string | null {
  const lines = facts.shown.split('\n').map((line) => line.trim());
  const before = lines[lines.findIndex((line) => line.includes(said.trim())) - 1];
  return before === undefined || before.length < 3 ? null : before;
}

function fill(told: Wording, sentence: string, ...patterns: readonly RegExp[]): string | null {
  const word = find(told, ...patterns);
  return word === null ? null : sentence.replace('$', () => word);
}

function fromHost(told: Wording, sentence: string): string | null {
  const host = hostOf(told.said) ?? downloadHost(told.log);
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
