import { classifyRole } from '../../line-roles.ts';
import { findBlockEnd, findLineAbove, type LogText } from '../../lines/lines.ts';
import type { Extractor, Findings } from '../extraction.ts';
import { UNKNOWN_TOOL } from './any-tool.ts';
import { isFile, nameTool, type Placed, parseNumber, readHead } from './place.ts';

interface Phrase {
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
}

/** Names of options, fields and files that contain the word "error". */
const ONLY_A_NAME = /-Werror|error_?log|on_?error|errors?\.(?:js|ts|py|go|rb|java|c|h|o|rs|class|html)\b/i;

// biome-ignore format: one row for each phrase
const PHRASES: readonly Phrase[] = [
  { pattern: /\b(?:fatal error|FATAL|panic(?:ked)?\b|Segmentation fault|core dumped|heap out of memory)/,
    weight: 62, reason: 'fatal error' },
  { pattern: /^##\[error\]|^\[error\]|^::error/i, weight: 58, reason: 'error reported to CI' },
  { pattern: /^(?:\S{1,80}: )?(?:error|fatal|ERROR|FATAL|Error)(?:\[\w{1,12}\])?: \S/, weight: 56,
    reason: 'error line' },
  { pattern: /\b(?:Exception|Error)\b(?::|$)/, weight: 48, reason: 'exception' },
  { pattern: new RegExp(
      'command not found|No such file or directory|[Pp]ermission denied|No space left on device|' +
      String.raw`Connection refused|Could not resolve host|Connection (?:timed out|reset)|\b(?:ECONN|` +
      String.raw`ETIMEDOUT|ENOTFOUND|ENOENT|EACCES)\w*|Killed\b|cannot find|[Cc]ould not (?:find|resolve|` +
      'read|open|connect|transfer)|undefined (?:reference|symbol)',
    ), weight: 48, reason: 'failure message' },
  { pattern: /\b(?:FAILED|FAILURE|FAIL|failed|failure)\b/, weight: 40, reason: 'failure line' },
  { pattern: new RegExp(
      "[Cc]ould not be|[Cc]annot |[Cc]an't |[Uu]nable to |unrecognized|not (?:found|defined|" +
      'provided|supported)|[Ii]nvalid|[Mm]issing|timed out|[Nn]o (?:module|matching|such|package|' +
      String.raw`space|rule|provider|candidate|usable|suitable)\b|conflicts? with|running out of|` +
      'is required|[Pp]lease specify|[Dd]enied|[Rr]efused|[Aa]bort',
    ), weight: 38, reason: 'complaint' },
  { pattern: /\b(?:error|ERROR)\b/, weight: 34, reason: 'error line' },
];

/** The weight of a notice that contains a phrase, and the weight of an ending as a message. */
const [NOTICE, ENDING] = [16, 8];

/** Lines with a general error phrase that no tool's own reader has claimed. */
export const phrases: Extractor = {
  name: 'generic',
  literals: [
    'error',
    'fatal',
    'fail',
    'exception',
    'panic',
    'segmentation fault',
    'core dumped',
    'out of memory',
    'not found',
    'no such file',
    'permission denied',
    'no space left',
    'connection',
    'could not',
    'cannot',
    "can't",
    'unable to',
    'killed',
    'abort',
    'econn',
    'etimedout',
    'enotfound',
    'enoent',
    'eacces',
    'unrecognized',
    'no module',
    'no matching',
    'no such',
    'no package',
    'no space',
    'no rule',
    'no provider',
    'no candidate',
    'no usable',
    'no suitable',
    'conflict',
    'running out',
    'is required',
    'please specify',
    'undefined',
    'timed out',
    'denied',
    'refused',
    'invalid',
    'missing',
  ],
  extract: (log, lines, found) => {
    for (const line of lines) readLinePhrase(log, line, found);
  },
};

function readLinePhrase(log: LogText, line: number, found: Findings): void {
  const text = log.line(line);
  const role = classifyRole(text);
  if (role === 'blank' || role === 'passing' || role === 'echo' || ONLY_A_NAME.test(text)) return;
  const phrase = PHRASES.find(({ pattern }) => pattern.test(text));
  if (phrase === undefined) return;
  const isQuiet = role === 'notice' || role === 'progress';
  const weight = isQuiet ? NOTICE : phrase.weight;
  found.looseLine(line, weight, isQuiet ? 'warning' : phrase.reason);
  if (role !== 'wrapper') found.message(line, text.trim(), role === 'ending' ? ENDING : weight);
}

/** Error records of PowerShell, reports of Erlang's Common Test, and diffs that a formatter printed. */
export const records: Extractor = {
  name: 'records',
  literals: [
    ' char:',
    'FullyQualifiedErrorId',
    'diff --git ',
    'Reason: ',
    'FAILED ON',
    '--- expected',
    '+++ actual',
    '--- Expected',
    '-- Expected',
  ],
  extract: (log, lines, found) => {
    let end = 0;
    for (const line of lines) {
      const text = log.line(line);
      if (line <= end) continue;
      if (/^At \S.{0,300}:\d{1,6} char:\d{1,5}/.test(text)) end = readPowershell(log, line, found);
      else if (/^diff --git a\//.test(text)) end = readDifference(log, line, found);
      else if (/^\s{0,8}Reason: \S/.test(text))
        found.looseLine(line, 62, 'reason given', Math.max(1, line - 1));
    }
  },
};

function readPowershell(log: LogText, line: number, found: Findings): number {
  const end = findBlockEnd(log, line, 12, (text) => /^\+|^\s{0,4}$/.test(text.trimStart()));
  const firstLine = Math.max(1, findLineAbove(log, line - 1, 2, (text) => text.trim() !== '') ?? line - 4);
  found.block(firstLine, end, 86, 'PowerShell error');
  const text = log.line(firstLine).trim();
  if (text !== '') found.message(firstLine, text, 74);
  return end;
}

function readDifference(log: LogText, line: number, found: Findings): number {
  const isOf = /^(?:[ +\-@\\]|diff --git|index |new file|deleted file|similarity|rename )|^$/;
  const end = findBlockEnd(log, line, 120, (text) => isOf.test(text));
  found.block(line, end, 60, 'difference shown');
  found.block(line, Math.min(end, line + 25), 66, 'difference shown');
  return end;
}

/**
 * Rows such as ` 3:5 error message rule` below the name of a file, as ESLint, stylelint and yamllint print
 * them.
 */
export const listings: Extractor = {
  name: 'places',
  literals: [
    '  error',
    ': error',
    '  warning',
    '✖',
    '×',
    ' problem',
    'too many warnings',
    '  Line   ',
    'FILE: ',
  ],
  extract: (log, lines, found) => {
    const before = found.diagnostics.length;
    for (const line of lines) if (!found.isTaken(line)) readLineListing(log, line, found);
    if (lines.some((line) => /^ESLint found too many warnings/.test(log.line(line))))
      countWarnings(found, before);
    found.putRepeatsLast(before);
  },
};

const ROW = new RegExp(
  String.raw`^\s{1,12}(?:line )?(?<line>\d{1,7})(?:[:,](?<column>\d{1,6}))?` +
    String.raw`(?:-\d{1,7}(?::\d{1,6})?)?(?: \||:)?\s{1,12}(?<said>\S.{0,500})$`,
);
const CODE = /^(?<message>.{1,400}?)\s{2,60}[([]?(?<code>[@\w/.-]{2,80})[)\]]?$/;

/**
 * Prefixes of a finding: the runner's problem matcher, or package and task in a workspace, as pnpm and
 * Turborepo print them.
 */
const BESIDE = /^(?:##\[(?:error|warning)\]|(?:@?[\w.-]{1,60}\/)?[\w./-]{1,80}(?: |:)[\w:-]{1,40}: )/;

/** Returns a line as the tool printed it, without such a prefix. */
function formatToolLine(log: LogText, line: number): string {
  return log.line(line).replace(BESIDE, '');
}

function readLineListing(log: LogText, line: number, found: Findings): void {
  const text = formatToolLine(log, line);
  if (/^\s{0,2}✖ \d{1,7} problems? \(/.test(text)) found.block(line, line, 60, 'summary of findings');
  const headed = /^\s{1,4}Line\s{2,8}(?<stan>\S{1,250}\.\w{1,6})|^FILE: (?<sniff>\S{1,300})$/.exec(
    text,
  )?.groups;
  if (headed !== undefined)
    readTable(
      log,
      line,
      headed.stan ?? headed.sniff ?? '',
      headed.stan === undefined ? 'phpcs' : 'phpstan',
      found,
    );
  const row = readRow(text);
  if (row === null || row.severity === null || row.severity === 'none') return;
  const at = findFileAbove(log, line);
  const placed: Placed = { ...row, file: at === 0 ? '' : extractFileName(formatToolLine(log, at)) };
  const name = nameTool(placed, text, found.leftOut);
  const { file, line: ownLine, column, code, message, severity } = placed;
  if (at === 0 && column === null) return;
  const tool = name?.tool ?? UNKNOWN_TOOL;
  const bracketed = code ?? name?.says?.exec(text)?.groups?.code ?? null;
  const place = { file: file || null, line: ownLine, column };
  found.finding({
    tool,
    severity: row.severity,
    ...place,
    code: bracketed,
    message,
    start: line,
    end: line,
    weight: 78,
  });
  if (name !== null) found.toolchains.add(tool);
  if (at !== 0 && severity === 'error') found.block(at, at, 76, `${tool} file`);
}

function readRow(text: string): Omit<Placed, 'file'> | null {
  const groups = ROW.exec(text)?.groups;
  if (groups === undefined) return null;
  const { severity, code, message } = readHead(
    (groups.said ?? '')
      .replace(/^\|?\s?(ERROR|WARNING)\s{0,4}\|\s/, '$1: ')
      .replace(/^(error|warning)\s{1,4}(?=\S)/, '$1: '),
  );
  const coded = code === null ? CODE.exec(message)?.groups : undefined;
  const place = { line: parseNumber(groups.line), column: parseNumber(groups.column) };
  return { ...place, severity, code: code ?? coded?.code ?? null, message: coded?.message ?? message };
}

/**
 * Reads the tables of PHPStan and PHP_CodeSniffer. The file is above its rows, and PHPStan's rows have no
 * severity.
 */
function readTable(log: LogText, line: number, file: string, tool: string, found: Findings): void {
  if (found.leftOut.has(tool)) return;
  const end = findBlockEnd(
    log,
    line,
    60,
    (text) => /^[\s-]/.test(text) && text.trim() !== '' && !/^\s{1,4}Line\s/.test(text),
  );
  for (let at = line + 1; at <= end; at++) {
    const row = readRow(log.line(at));
    if (row === null) continue;
    const severity = row.severity === 'warning' ? 'warning' : 'error';
    found.finding({ ...row, tool, severity, file, start: at, end: at, weight: 76 });
  }
  found.block(line, end, 76, `${tool} findings`);
  found.toolchains.add(tool);
}

/** Turns ESLint's warnings into errors if there were too many of them for `--max-warnings`. */
function countWarnings(found: Findings, from: number): void {
  for (const [at, diagnostic] of found.diagnostics.entries()) {
    if (
      at < from ||
      diagnostic.tool !== 'eslint' ||
      diagnostic.severity !== 'warning' ||
      diagnostic.at === null
    )
      continue;
    found.diagnostics[at] = { ...diagnostic, severity: 'error' };
    found.block(diagnostic.at.line, diagnostic.at.line, 70, 'eslint warning that counts');
  }
}

/** Returns the line above that names the file of an indented row, or 0 if there is none. */
function findFileAbove(log: LogText, line: number): number {
  const indent = formatToolLine(log, line).search(/\S/);
  for (let at = line - 1; at >= Math.max(1, line - 200); at--) {
    const text = formatToolLine(log, at);
    if (text === '') return 0;
    if (text.search(/\S/) < indent && isFile(extractFileName(text))) return at;
    if (!/^\s/.test(text)) return 0;
  }
  return 0;
}

function extractFileName(text: string): string {
  return (
    /^\s{0,8}(?:[-=#>•] ?|File:? |in )?(?<file>\S.{0,300}?)(?: \(\d{1,6}\)|:)?\s{0,4}$/.exec(text)?.groups
      ?.file ?? ''
  );
}

interface Complaint {
  /** Literals. Every line that matches `pattern` contains one of them. */
  readonly literals: readonly string[];
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
}

/** Phrases that precede an HTTP status of 4xx or 5xx. */
const STATUS_WORDS = ['status', 'status code', 'returned', 'response', 'error'].flatMap((word) =>
  [' ', ': ', ':', '='].map((mark) => word + mark),
);
const HTTP_LITERALS: readonly string[] = [
  'http/1',
  'http/2',
  'http/3',
  '401 unauth',
  '403 forbid',
  '404 not fo',
  '429 too',
  '500 intern',
  '502 bad',
  '503 servic',
  '504 gatewa',
  ...['http ', 'http: ', 'http:', 'http=', ...STATUS_WORDS].flatMap((mark) => [`${mark}4`, `${mark}5`]),
];

/** Short, specific messages of shells, kernels, networks and disks. They are rarely wrong. */
// biome-ignore format: one row for each complaint
const COMPLAINTS: readonly Complaint[] = [
  { reason: 'shell error', weight: 80, literals: ['command not found', ': not found', 'no such file',
    'permission denied', 'cannot execute', 'bad interpreter', 'syntax error', 'unbound variable',
    'parameter not set'],
    pattern: new RegExp(
      String.raw`^\S{0,200}: (?:line )?\d{1,6}: .{1,300}: (?:command not found|not found|` +
      'No such file or directory|[Pp]ermission denied|cannot execute|bad interpreter|' +
      'syntax error|unbound variable|parameter not set)',
    ) },
  { reason: 'shell error', weight: 80, literals: ['unbound variable', 'is a directory',
    'argument list too long', 'text file busy', 'exec format', 'required', 'syntax error'],
    pattern: new RegExp(
      String.raw`^\S{0,200}: (?:line )?\d{1,6}: .{1,300}: (?:unbound variable|Is a directory|` +
      'Argument list too long|Text file busy|Exec format error|required)|' +
      String.raw`^\S{0,200}: (?:line )?\d{1,6}: syntax error`,
    ) },
  { reason: 'command failed', weight: 78, literals: ['not found', 'no such file', 'denied', "can't open",
    'cannot', 'could not', 'failed', 'unable', 'error', 'fatal', 'curl: ', 'wget: ', 'scp: ', 'ssh: ',
    'rsync: ', 'aws: '],
    pattern: new RegExp(
      "^(?:ba|z|da)?sh: .{1,300}(?:not found|No such file|denied|Can't open)|^(?:env|sudo|exec|" +
      'which|cd|cp|mv|cat|rm|ls|tar|unzip|chmod|mkdir|touch|git|ssh|scp|rsync|curl|wget|aws|' +
      'gcloud|kubectl|helm|terraform|docker|docker-compose|gpg|openssl): .{1,300}(?:No such file|' +
      String.raw`not found|denied|cannot|[Cc]ould not|[Ff]ailed|unable|[Ee]rror|fatal|\(\d{1,3}\) )`,
    ) },
  { reason: 'disk full', weight: 84, literals: ['no space left', 'enospc', 'quota exceeded',
    'read-only file'],
    pattern: /\b(?:No space left on device|ENOSPC|Disk quota exceeded|Read-only file system)/ },
  { reason: 'out of memory', weight: 84, literals: ['out of memory', 'cannot allocate', 'outofmemory',
    'heap limit', 'oom-kill', 'oomkilled', 'killed process', 'memory exhausted', 'bad_alloc', 'memoryerror'],
    pattern: new RegExp(
      String.raw`\b(?:Out of memory|out of memory|Cannot allocate memory|OutOfMemoryError|heap limit|` +
      String.raw`oom-kill|OOMKilled|Killed process \d|virtual memory exhausted|` +
      String.raw`std::bad_alloc|MemoryError)\b`,
    ) },
  { reason: 'process died', weight: 80, literals: ['killed', 'segmentation fault', 'aborted', 'bus error',
    'illegal instruction', 'floating point exception', 'core dumped'],
    pattern: new RegExp(
      String.raw`(?:^|[\s:])(?:\d{1,8} )?(?:Killed|Segmentation fault|Aborted|Bus error|` +
      String.raw`Illegal instruction|Floating point exception)(?:\s{1,20}\(core dumped\))?` +
      String.raw`(?:\s{2,40}\S|$)|\(core dumped\)`,
    ) },
  { reason: 'network error', weight: 76, literals: ['econn', 'etimedout', 'enotfound', 'eai_again',
    'ehostunreach', 'connection re', 'could not resolve', 'not known', 'name resolution', 'no route',
    'is unreachable', 'connection timed', 'operation timed', 'tls handshake', 'certificate ', 'ssl_error',
    'local issuer'],
    pattern: new RegExp(
      String.raw`\b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)\b|` +
      'Connection refused|Connection reset by peer|Could not resolve host|' +
      'Name or service not known|Temporary failure in name resolution|No route to host|' +
      'Network is unreachable|Connection timed out|Operation timed out|TLS handshake|' +
      'certificate (?:verify failed|has expired|problem)|SSL_ERROR|unable to get local issuer',
    ) },
  { reason: 'HTTP error', weight: 72, literals: HTTP_LITERALS,
    pattern: new RegExp(
      String.raw`\b(?:HTTP(?:/[\d.]{1,3})?|status(?: code)?|error:?|returned|response)[ :=]{1,3}(?:4\d\d|` +
      String.raw`5\d\d)\b|\b(?:401 Unauthorized|403 Forbidden|404 Not Found|429 Too Many|` +
      '500 Internal|502 Bad Gateway|503 Service|504 Gateway)',
      'i',
    ) },
  { reason: 'git error', weight: 76, literals: ['fatal: ', 'remote: ', 'permission denied (', 'host key'],
    pattern: new RegExp(
      '^fatal: .{1,300}|^remote: (?:error|fatal|Permission|Repository not found|Invalid).{0,300}|' +
      String.raw`Permission denied \(publickey|Host key verification failed`,
    ) },
  { reason: 'run was ended', weight: 80, literals: ['exceeded', 'timed out', 'cancel', 'no output',
    'without output', 'shutdown signal', 'lost communication', 'agent was removed'],
    pattern: new RegExp(
      'exceeded the maximum execution time|(?:job|build|step|operation|action|' +
      'run) .{0,60}(?:timed out|was cancell?ed|has been cancell?ed|exceeded)|' +
      'No output has been received|(?:timed out|killed|stopped|aborted).{0,60}without (?:any )?output|' +
      'runner has received a shutdown signal|' +
      'lost communication with the server|The operation was canceled|agent was removed|' +
      'ERROR: Job failed: execution took longer',
      'i',
    ) },
  { reason: 'missing setting', weight: 78, literals: ['environment variable', 'env var', 'secret', 'token',
    'credential'],
    pattern: new RegExp(
      '(?:required|missing|undefined|unset|not set|must be set|is empty).{0,80}' +
      '(?:environment variable|env var|secret|token|credential)|(?:environment variable|env var|' +
      'secret|token|credentials?)s? .{0,100}(?:not set|not found|missing|is required|required|' +
      'must be set|undefined|is empty|not defined|not supplied)',
      'i',
    ) },
  { reason: 'error reported to CI', weight: 76, literals: ['##[error]', '::error', 'error: '],
    pattern: new RegExp(
      String.raw`^(?:##\[error\]|::error.{0,200}::|Error: )(?!Process completed)` +
      '(?:The process .{1,200} failed|Unable to|Input required|Invalid workflow|Unexpected|' +
      "Can't find|Version|Resource not accessible|Bad credentials|Error|No |Not |" +
      'Failed|Missing|Could|.{1,60}not found).{0,300}',
    ) },
];

/**
 * The readers for shells, operating systems and networks, one for each kind of message, so that each line is
 * tried with few patterns. The first one that matches a line takes it.
 */
export const shell: readonly Extractor[] = COMPLAINTS.map((complaint) => ({
  name: 'shell',
  literals: complaint.literals,
  extract: (log, lines, found) => {
    for (const line of lines)
      if (!found.complaints.has(line) && isSaid(complaint, log, line, found)) found.complaints.add(line);
  },
}));

function isSaid(
  { pattern, reason, weight }: Complaint,
  log: LogText,
  line: number,
  found: Findings,
): boolean {
  const text = log.line(line);
  if (text.length > 1_500 || !pattern.test(text)) return false;
  const role = classifyRole(text);
  if (role === 'passing' || role === 'echo') return false;
  // A message that is only a warning, or that the tool retries, weighs little.
  const less = role === 'notice' ? 44 : 0;
  found.looseLine(line, weight - 14 - less, less > 0 ? `${reason}, only a notice` : reason);
  found.message(line, text.trim(), weight - 8 - less);
  return true;
}

/**
 * A command line echoed by a CI system: `$ npm ci`, `+ mvn verify`, `##[group]Run go test ./...`, npm's
 * `> jest`.
 */
const ECHO = new RegExp(
  String.raw`^(?:\$ |\+{1,2} |##\[(?:group\]Run|command\])\s?|> |\[command\]|Run )(?:(?:sudo|time|env|` +
    String.raw`exec|npx|pnpm exec|yarn|poetry run|uv run|bundle exec|python3? -m|\S{0,100}/python3? -m|` +
    String.raw`timeout \S{1,20}|[A-Z_]{1,40}=\S{0,100}) ){0,4}(?:\S{0,100}/)?(?<tool>[\w.+-]{1,30})`,
);

const NAMED_ALIKE =
  'npm yarn pnpm node jest vitest mocha tsc eslint prettier gradle pip pytest tox poetry uv cargo go ' +
  'make cmake ctest gcc docker rspec composer phpunit dotnet terraform';
/** The tool of each program. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ...NAMED_ALIKE.split(' ').map((tool) => [tool, tool] as const),
  ...Object.entries({
    mvn: 'maven',
    mvnw: 'maven',
    gradlew: 'gradle',
    pip3: 'pip',
    'g++': 'gcc',
    bundle: 'bundler',
  }),
]);

const LOOKED_AT = 5_000;

/** Records the tools that ran, with or without findings, from the commands that the log echoes. */
export const commands: Extractor = {
  name: 'commands',
  literals: Array.from(TOOLS.keys(), (tool) => `${tool} `),
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, LOOKED_AT)) {
      const tool = TOOLS.get(ECHO.exec(log.line(line).slice(0, 400))?.groups?.tool ?? '');
      if (tool !== undefined) found.toolchains.add(tool);
    }
  },
};
