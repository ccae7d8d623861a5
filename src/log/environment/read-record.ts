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

/** Lines of a list below its head, and of one log, that are read at most. */
const [MAX_LISTED, MAX_LINES] = [400, 12_000];
/** Lines of a step's head, and of what a tool says of its version. */
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

/** Reads what one log shows of the environment that its job ran in. `lines` hold {@link RECORD_LITERALS}. */
export function readRecord(log: LogText, lines: readonly number[]): EnvironmentRecord {
  const draft = createDraft(log.name);
  addLines(draft, log, lines.slice(-MAX_LINES), 0);
  return finish(draft);
}

let matcher: Matcher | undefined;
/** Characters that are read between two pauses. */
const TURN = 1 << 16;

/** Reads the same of a text, a part at a time: `pause` is awaited in between. */
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

/** Reads the same of a text at once, where nothing else waits. */
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
  /** The newest time that the log shows, in seconds. */
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

/** Keeps the last version of each name; of npm, which may install several, all of them. */
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

/** Returns the name that an index knows a distribution by (PEP 503). */
export function canonicalizePythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]{1,5}/g, '-');
}

/** Reads what a runner says of itself. */
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

/** Reads the lines below a head: the lists of pnpm and pip, variables, a tool asked for its version. */
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

/** Reads rows from a line on, up to the first line that is none. */
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

/** Reads pip's list of what it installed, and the jars that Maven and Gradle downloaded. */
function readArtifactLine(text: string, add: Add): boolean {
  const found = readLineArtifacts(text, 1).filter(
    ({ ecosystem }) => ecosystem === 'maven' || ecosystem === 'python',
  );
  for (const { ecosystem, group, name, version, isUsed } of found)
    if (isUsed && (ecosystem === 'maven' || ecosystem === 'python'))
      add(ecosystem, group === '' ? name : `${group}:${name}`, version);
  return found.length > 0;
}

/** Reads when steps began and ended, from the times before lines and from GitLab's own marks. */
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
