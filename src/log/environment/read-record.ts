import {
  type EnvironmentRecord,
  MAX_RECORDED,
  type RecordedKind,
  type RecordedVersion,
  type StatedRequirement,
} from '../../domain/environment-record.ts';
import { toLogBytes } from '../lines/bytes.ts';
import { type LogText, listLinesBetween, openLog } from '../lines/lines.ts';
import { buildMatcher, type Matcher, shortenLiterals } from '../scan/matcher.ts';
import { scanLog } from '../scan/scan-log.ts';
import { readLineArtifacts } from './artifacts.ts';
import { RECORD_LITERALS, RECORD_ROWS } from './record-rows.ts';

/** The maximum numbers of lines of a list, and of lines of one log that are read. */
const [MAX_LISTED, MAX_LINES] = [400, 12_000];
/** The maximum number of lines below a version command that are read. */
const MAX_HEAD = 12;
const [MAX_STEPS, MAX_STEP_NAME, MAX_REQUIREMENTS] = [40, 80, 400];

const IMAGE = /^Image: (?<name>[\w.-]{2,60})$/;
const IMAGE_VERSION = /^Version: (?<version>20\d{6}(?:\.\d{1,4}){0,3})$/;
const DIGEST = /^Digest: (?<digest>sha256:[0-9a-f]{12})/;
const PULLED =
  /^Status: (?:Downloaded newer image|Image is up to date) for (?<name>[\w./-]{2,200}(?::[\w.-]{1,100})?)/;
const COLLECTING = new RegExp(
  String.raw`^Collecting (?<name>[A-Za-z][\w.-]{0,100})(?:\[[\w,.-]{1,80}\])?` +
    String.raw`(?<range>[<>=!~][\w.*,<>=!~ ]{0,80}?)?(?: \(from (?<from>.{1,200})\))?$`,
);
const SATISFIED = new RegExp(
  String.raw`^Requirement already satisfied: (?<name>[A-Za-z][\w.-]{0,100})(?:\[[\w,.-]{1,80}\])?` +
    String.raw`(?<range>[<>=!~][\w.*,<>=!~]{0,80})? in \S{1,300} \(from (?<from>-[rc] .{1,100}?)\)`,
);
const PNPM_LIST = /^(?:dev|optional|peer)?[dD]ependencies:$/;
const PNPM = /^\+ (?<name>(?:@[\w.-]{1,60}\/)?[\w.-]{1,100}) (?<version>\d[\w.+-]{0,60})(?: |$)/;
const PIP_LIST = /^Package {2,80}Version\b/;
const PIP_ROW = /^(?<name>[A-Za-z][\w.-]{0,100}) {1,80}(?<version>\d[\w.+!-]{0,40})(?: |$)/;
const ENV_HEAD = /^env:$/;
const ENV_ROW = /^ {2}(?<name>[A-Za-z_]\w{0,80}): ?/;
const ASKED = /(?:^|[$+>] |Run )(?<name>[a-z][\w.-]{1,30}) (?:--version|-[vV]|version)$/;
const PLUGINS = /^plugins: (?<all>\S.{0,1000})/;
const PLATFORM = /^platform .{1,60}, pytest-(?<version>\d[\w.]{0,20}), pluggy-(?<pluggy>\d[\w.]{0,20})/;
const FIRST_VERSION = /(?:^|[ v(])(?<version>\d{1,4}\.\d{1,4}(?:\.[\w+-]{1,30}){0,3})(?=$|[ ,;)])/;
const STEP_HEAD = /##\[group\]Run (?<name>.{1,200})/;
const STEP_TIME =
  /^(?:\S{1,120}\t[^\t\n]{1,120}\t)?\ufeff?(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z /;
const SECTION = /section_(?<edge>start|end):(?<time>\d{9,11}):(?<name>[\w.-]{1,100})/;

/**
 * Reads the environment of the job from its log. `lines` are the lines that contain {@link RECORD_LITERALS}.
 */
export function readRecord(log: LogText, lines: readonly number[]): EnvironmentRecord {
  const draft = createDraft(log.name);
  addLines(draft, log, lines.slice(-MAX_LINES), 0);
  return finish(draft);
}

let matcher: Matcher | undefined;
/** The number of characters that are read between two pauses. */
const TURN = 1 << 16;

/** Reads the environment from a text in parts, and awaits `pause` after each part. */
export async function readRecordInTurns(
  name: string,
  text: string,
  pause: () => Promise<void>,
): Promise<EnvironmentRecord> {
  const draft = createDraft(name);
  for (const part of readParts(draft, text)) {
    void part;
    await pause();
  }
  return finish(draft);
}

/** Reads the environment from a text without pauses. */
export function readRecordOfText(name: string, text: string): EnvironmentRecord {
  const draft = createDraft(name);
  for (const part of readParts(draft, text)) void part;
  return finish(draft);
}

function* readParts(draft: Draft, text: string): Generator<void> {
  matcher ??= buildMatcher([shortenLiterals(RECORD_LITERALS)]);
  let [start, first] = [0, 0];
  while (start < text.length) {
    const feed = start + TURN >= text.length ? -1 : text.lastIndexOf('\n', start + TURN);
    const end = feed < start ? Math.min(text.length, start + TURN) : feed + 1;
    const bytes = toLogBytes(text.slice(start, end));
    const { index, hits } = scanLog(bytes, matcher);
    const log = openLog(draft.log, bytes, index, []);
    addLines(draft, log, hits[0] ?? [], first);
    first += log.lineCount - 1;
    start = end;
    yield;
  }
}

interface Draft {
  readonly log: string;
  readonly found: Map<string, RecordedVersion>;
  readonly requirements: Map<string, StatedRequirement>;
  readonly steps: Map<string, { start: number; seconds: number | null }>;
  image: string | null;
  digest: string | null;
  step: string | null;
  /** The time of the newest line so far, in seconds since 1970. */
  now: number;
}

function createDraft(log: string): Draft {
  return {
    log,
    found: new Map(),
    requirements: new Map(),
    steps: new Map(),
    image: null,
    digest: null,
    step: null,
    now: 0,
  };
}

type Add = (kind: RecordedKind, name: string, version: string) => void;

function addLines(draft: Draft, log: LogText, lines: readonly number[], offset: number): void {
  for (const line of lines) {
    const text = log.line(line);
    const add = createAdd(draft, offset + line);
    readTime(draft, log.raw(line).slice(0, 600));
    if (readRunner(draft, text, add) || readList(log, line, text, add)) continue;
    readRequirement(draft, text);
    if (readPytest(text, add) || readArtifactLine(text, add)) continue;
    for (const row of RECORD_ROWS) {
      const groups = row.pattern.exec(text)?.groups;
      if (groups === undefined) continue;
      add(row.kind, groups.name ?? row.name ?? '', groups.to ?? groups.version ?? '');
      break;
    }
  }
  const last = log.raw(log.lineCount).slice(0, 600) || log.raw(log.lineCount - 1).slice(0, 600);
  readTime(draft, last);
}

/**
 * Creates a function that records versions. It keeps the last version of each name; for npm and cargo, which
 * may install several, up to five.
 */
function createAdd({ found }: Draft, line: number): Add {
  return (kind, name, version) => {
    if (name === '') return;
    const key = `${kind} ${kind === 'python' ? canonicalizePythonName(name) : name}`;
    const known = found.get(key);
    if (known === undefined && found.size >= MAX_RECORDED) return;
    const isMany = kind === 'npm' || kind === 'cargo';
    const versions =
      isMany && known !== undefined
        ? [...new Set([...known.version.split(', '), version])].slice(0, 5)
        : [version];
    found.set(key, {
      kind,
      name: known?.name ?? name,
      version: versions.join(', ').slice(0, 200),
      line,
    });
  };
}

/** Normalizes the name of a distribution as Python's package index does (PEP 503). */
export function canonicalizePythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]{1,5}/g, '-');
}

/** Reads what a runner prints about itself. */
function readRunner(draft: Draft, text: string, add: Add): boolean {
  const image = IMAGE.exec(text)?.groups?.name;
  if (image !== undefined) {
    draft.image = image;
    return true;
  }
  const version = IMAGE_VERSION.exec(text)?.groups?.version;
  if (version !== undefined && draft.image !== null) {
    add('image', 'runner image', `${draft.image} ${version}`);
    return true;
  }
  const digest = DIGEST.exec(text)?.groups?.digest;
  if (digest !== undefined) {
    draft.digest = digest;
    return true;
  }
  const pulled = PULLED.exec(text)?.groups?.name;
  if (pulled === undefined || draft.digest === null) return false;
  add('service', pulled, draft.digest);
  draft.digest = null;
  return true;
}

/**
 * Reads the lines below a heading: lists of pnpm and pip, environment variables, and the output of a version
 * command.
 */
function readList(log: LogText, line: number, text: string, add: Add): boolean {
  if (PNPM_LIST.test(text)) return readRows(log, line + 1, PNPM, (groups) => addGroup(add, 'npm', groups));
  if (PIP_LIST.test(text))
    return readRows(log, line + 2, PIP_ROW, (groups) => addGroup(add, 'python', groups));
  if (ENV_HEAD.test(text)) return readRows(log, line + 1, ENV_ROW, ({ name = '' }) => add('env', name, ''));
  const asked = ASKED.exec(text)?.groups?.name;
  if (asked === undefined) return false;
  const versionText = listLinesBetween(log, line + 1, line + MAX_HEAD, MAX_HEAD)
    .filter((text) => !/^(?:shell: |env:|##\[|\s{2}\S)/.test(text))
    .slice(0, 3);
  const version = versionText
    .map((text) => FIRST_VERSION.exec(text)?.groups?.version)
    .find((found) => found !== undefined);
  if (version !== undefined) add('tool', asked, version);
  return true;
}

type Groups = Readonly<Record<string, string | undefined>>;

function addGroup(add: Add, kind: RecordedKind, { name = '', version = '' }: Groups): void {
  add(kind, name, version);
}

/** Reads rows from a line on, up to the first line that does not match. */
function readRows(log: LogText, from: number, pattern: RegExp, take: (groups: Groups) => void): true {
  for (let line = from; line < from + MAX_LISTED; line++) {
    const groups = pattern.exec(log.line(line))?.groups;
    if (groups === undefined) break;
    take(groups);
  }
  return true;
}

function readRequirement({ requirements }: Draft, text: string): void {
  const { name, range = '', from } = (COLLECTING.exec(text) ?? SATISFIED.exec(text))?.groups ?? {};
  if (name === undefined || requirements.size >= MAX_REQUIREMENTS) return;
  const file = /^-[rc] (?<file>\S{1,120})/.exec(from ?? '')?.groups?.file ?? null;
  const key = canonicalizePythonName(name);
  if (!requirements.has(key)) requirements.set(key, { name: key, range: range.trim(), from: file });
}

function readPytest(text: string, add: Add): boolean {
  const { version, pluggy } = PLATFORM.exec(text)?.groups ?? {};
  if (version !== undefined && pluggy !== undefined) {
    add('python', 'pytest', version);
    add('python', 'pluggy', pluggy);
    const python = / -- Python (?<own>\d[\w.]{0,20})/.exec(text)?.groups?.own;
    if (python !== undefined) add('tool', 'python', python);
    return true;
  }
  const plugins = PLUGINS.exec(text)?.groups?.all;
  if (plugins === undefined) return false;
  for (const plugin of plugins.split(', ')) {
    const { name, own } = /^(?<name>[\w.-]{1,60})-(?<own>\d[\w.]{0,20})$/.exec(plugin)?.groups ?? {};
    if (name !== undefined && own !== undefined) add('python', `pytest-${name}`, own);
  }
  return true;
}

/** Reads the packages that pip installed, and the jars that Maven and Gradle downloaded. */
function readArtifactLine(text: string, add: Add): boolean {
  const found = readLineArtifacts(text, 1).filter(
    ({ ecosystem }) => ecosystem === 'maven' || ecosystem === 'python',
  );
  for (const { ecosystem, group, name, version, isUsed } of found)
    if (isUsed && (ecosystem === 'maven' || ecosystem === 'python'))
      add(ecosystem, group === '' ? name : `${group}:${name}`, version);
  return found.length > 0;
}

/** Reads when steps began and ended, from the time stamps of lines and from GitLab's section markers. */
function readTime(draft: Draft, raw: string): void {
  const { edge, time: seconds, name } = SECTION.exec(raw)?.groups ?? {};
  if (edge !== undefined && name !== undefined) {
    markStep(draft, edge, name, Number(seconds));
    return;
  }
  const time = STEP_TIME.exec(raw)?.groups?.time;
  if (time === undefined) return;
  draft.now = Date.parse(`${time}Z`) / 1000;
  const head = STEP_HEAD.exec(raw)?.groups?.name;
  if (head !== undefined) {
    if (draft.step !== null) markStep(draft, 'end', draft.step, draft.now);
    draft.step = head.slice(0, MAX_STEP_NAME).trim();
    markStep(draft, 'start', draft.step, draft.now);
  } else if (draft.step !== null) markStep(draft, 'end', draft.step, draft.now);
}

function markStep({ steps }: Draft, edge: string, name: string, at: number): void {
  const known = steps.get(name);
  if (edge === 'start') {
    if (known === undefined && steps.size < MAX_STEPS) steps.set(name, { start: at, seconds: null });
  } else if (known !== undefined) known.seconds = Math.max(0, Math.round(at - known.start));
}

function finish({ log, found, requirements, steps }: Draft): EnvironmentRecord {
  return {
    log,
    versions: [...found.values()],
    requirements: [...requirements.values()],
    steps: [...steps].flatMap(([name, { seconds }]) => (seconds === null ? [] : [{ name, seconds }])),
  };
}
