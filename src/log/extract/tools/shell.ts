import type { LogText } from '../../lines/lines.ts';
import { roleOf } from '../../roles.ts';
import type { Extraction, Extractor } from '../extraction.ts';

interface Complaint {
  /** Literals without which no line matches `pattern`. */
  readonly literals: readonly string[];
  readonly pattern: RegExp;
  readonly weight: number;
  readonly reason: string;
}

/** How a status of 4xx or 5xx is announced. */
const STATUS_WORDS = ['status', 'status code', 'returned', 'response', 'error'].flatMap((word) =>
  [' ', ': ', ':', '='].map((mark) => word + mark),
);
const HTTP_LITERALS: readonly string[] = [
  ...[
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
  ],
  ...['http ', 'http: ', 'http:', 'http=', ...STATUS_WORDS].flatMap((mark) => [`${mark}4`, `${mark}5`]),
];

/** What shells, kernels, networks and disks say themselves: short, specific, and seldom wrong. */
const COMPLAINTS: readonly Complaint[] = [
  {
    literals: [
      ...['command not found', ': not found', 'no such file', 'permission denied', 'cannot execute', 'bad interpreter'],
      ...['syntax error', 'unbound variable', 'parameter not set'],
    ],
    pattern:
      /^\S{0,200}: (?:line )?\d{1,6}: .{1,300}: (?:command not found|not found|No such file or directory|[Pp]ermission denied|cannot execute|bad interpreter|syntax error|unbound variable|parameter not set)/,
    weight: 80,
    reason: 'shell error',
  },
  {
    literals: ['unbound variable', 'is a directory', 'argument list too long', 'text file busy', 'exec format', 'required', 'syntax error'],
    pattern:
      /^\S{0,200}: (?:line )?\d{1,6}: .{1,300}: (?:unbound variable|Is a directory|Argument list too long|Text file busy|Exec format error|required)|^\S{0,200}: (?:line )?\d{1,6}: syntax error/,
    weight: 80,
    reason: 'shell error',
  },
  {
    literals: [
      ...['not found', 'no such file', 'denied', "can't open", 'cannot', 'could not', 'failed', 'unable', 'error', 'fatal'],
      ...['curl: ', 'wget: ', 'scp: ', 'ssh: ', 'rsync: ', 'aws: '],
    ],
    pattern:
      /^(?:ba|z|da)?sh: .{1,300}(?:not found|No such file|denied|Can't open)|^(?:env|sudo|exec|which|cd|cp|mv|cat|rm|ls|tar|unzip|chmod|mkdir|touch|git|ssh|scp|rsync|curl|wget|aws|gcloud|kubectl|helm|terraform|docker|docker-compose|gpg|openssl): .{1,300}(?:No such file|not found|denied|cannot|[Cc]ould not|[Ff]ailed|unable|[Ee]rror|fatal|\(\d{1,3}\) )/,
    weight: 78,
    reason: 'command failed',
  },
  {
    literals: ['no space left', 'enospc', 'quota exceeded', 'read-only file'],
    pattern: /\b(?:No space left on device|ENOSPC|Disk quota exceeded|Read-only file system)/,
    weight: 84,
    reason: 'disk full',
  },
  {
    literals: [
      ...['out of memory', 'cannot allocate', 'outofmemory', 'heap limit', 'oom-kill', 'oomkilled', 'killed process'],
      ...['memory exhausted', 'bad_alloc', 'memoryerror'],
    ],
    pattern:
      /\b(?:Out of memory|out of memory|Cannot allocate memory|OutOfMemoryError|heap limit|oom-kill|OOMKilled|Killed process \d|virtual memory exhausted|std::bad_alloc|MemoryError)\b/,
    weight: 84,
    reason: 'out of memory',
  },
  {
    literals: ['killed', 'segmentation fault', 'aborted', 'bus error', 'illegal instruction', 'floating point exception', 'core dumped'],
    pattern:
      /(?:^|[\s:])(?:\d{1,8} )?(?:Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception)(?:\s{1,20}\(core dumped\))?(?:\s{2,40}\S|$)|\(core dumped\)/,
    weight: 80,
    reason: 'process died',
  },
  {
    literals: [
      ...['econn', 'etimedout', 'enotfound', 'eai_again', 'ehostunreach', 'connection re', 'could not resolve', 'not known'],
      ...['name resolution', 'no route', 'is unreachable', 'connection timed', 'operation timed', 'tls handshake'],
      ...['certificate ', 'ssl_error', 'local issuer'],
    ],
    pattern:
      /\b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)\b|Connection refused|Connection reset by peer|Could not resolve host|Name or service not known|Temporary failure in name resolution|No route to host|Network is unreachable|Connection timed out|Operation timed out|TLS handshake|certificate (?:verify failed|has expired|problem)|SSL_ERROR|unable to get local issuer/,
    weight: 76,
    reason: 'network error',
  },
  {
    literals: HTTP_LITERALS,
    pattern:
      /\b(?:HTTP(?:\/[\d.]{1,3})?|status(?: code)?|error:?|returned|response)[ :=]{1,3}(?:4\d\d|5\d\d)\b|\b(?:401 Unauthorized|403 Forbidden|404 Not Found|429 Too Many|500 Internal|502 Bad Gateway|503 Service|504 Gateway)/i,
    weight: 72,
    reason: 'HTTP error',
  },
  {
    literals: ['fatal: ', 'remote: ', 'permission denied (', 'host key'],
    pattern:
      /^fatal: .{1,300}|^remote: (?:error|fatal|Permission|Repository not found|Invalid).{0,300}|Permission denied \(publickey|Host key verification failed/,
    weight: 76,
    reason: 'git error',
  },
  {
    literals: ['exceeded', 'timed out', 'cancel', 'no output', 'shutdown signal', 'lost communication', 'agent was removed'],
    pattern:
      /exceeded the maximum execution time|(?:job|build|step|operation|action|run) .{0,60}(?:timed out|was cancell?ed|has been cancell?ed|exceeded)|No output has been received|runner has received a shutdown signal|lost communication with the server|The operation was canceled|agent was removed|ERROR: Job failed: execution took longer/i,
    weight: 80,
    reason: 'run was ended',
  },
  {
    literals: ['environment variable', 'env var', 'secret', 'token', 'credential'],
    pattern:
      /(?:required|missing|undefined|unset|not set|must be set|is empty).{0,80}(?:environment variable|env var|secret|token|credential)|(?:environment variable|env var|secret|token|credentials?)s? .{0,100}(?:not set|not found|missing|is required|required|must be set|undefined|is empty|not defined|not supplied)/i,
    weight: 78,
    reason: 'missing setting',
  },
  {
    literals: ['##[error]', '::error', 'error: '],
    pattern:
      /^(?:##\[error\]|::error.{0,200}::|Error: )(?!Process completed)(?:The process .{1,200} failed|Unable to|Input required|Invalid workflow|Unexpected|Can't find|Version|Resource not accessible|Bad credentials|Error|No |Not |Failed|Missing|Could|.{1,60}not found).{0,300}/,
    weight: 76,
    reason: 'error reported to CI',
  },
];

/** Lines of one log that a complaint before has taken. */
const taken = new WeakMap<Extraction, Set<number>>();

/**
 * The shell, the operating system and the network: one reader a complaint, so that each line is asked only what its words may mean. The
 * first complaint that fits a line takes it.
 */
export const shell: readonly Extractor[] = COMPLAINTS.map((complaint) => ({
  name: 'shell',
  literals: complaint.literals,
  extract: (log, lines, found) => {
    const others = taken.get(found) ?? new Set<number>();
    taken.set(found, others);
    for (const line of lines) if (!others.has(line) && isSaid(complaint, log, line, found)) others.add(line);
  },
}));

function isSaid({ pattern, reason, weight }: Complaint, log: LogText, line: number, found: Extraction): boolean {
  const text = log.line(line);
  if (text.length > 1_500 || !pattern.test(text)) return false;
  const role = roleOf(text);
  if (role === 'passing' || role === 'echo') return false;
  // What a tool only warns of, or tries again by itself, tells little.
  const less = role === 'notice' ? 44 : 0;
  found.blocks.push({
    start: line,
    end: line,
    weight: weight - 14 - less,
    reason: less > 0 ? `${reason}, only a notice` : reason,
    loose: true,
  });
  found.messages.push({ text: text.trim().slice(0, 500), at: { source: log.name, line }, weight: weight - 8 - less });
  return true;
}

/** A command line as CI systems echo it: `$ npm ci`, `+ mvn verify`, `##[group]Run go test ./...`, npm's `> jest`. */
const ECHO =
  /^(?:\$ |\+{1,2} |##\[(?:group\]Run|command\])\s?|> |\[command\]|Run )(?:(?:sudo|time|env|exec|npx|pnpm exec|yarn|poetry run|uv run|bundle exec|python3? -m|\S{0,100}\/python3? -m|timeout \S{1,20}|[A-Z_]{1,40}=\S{0,100}) ){0,4}(?:\S{0,100}\/)?(?<tool>[\w.+-]{1,30})/;

/** Tools by the name of their program. */
const TOOLS: Readonly<Record<string, string>> = {
  npm: 'npm',
  yarn: 'yarn',
  pnpm: 'pnpm',
  node: 'node',
  jest: 'jest',
  vitest: 'vitest',
  mocha: 'mocha',
  tsc: 'tsc',
  eslint: 'eslint',
  prettier: 'prettier',
  mvn: 'maven',
  mvnw: 'maven',
  gradle: 'gradle',
  gradlew: 'gradle',
  pip: 'pip',
  pip3: 'pip',
  pytest: 'pytest',
  tox: 'tox',
  poetry: 'poetry',
  uv: 'uv',
  cargo: 'cargo',
  go: 'go',
  make: 'make',
  cmake: 'cmake',
  ctest: 'ctest',
  gcc: 'gcc',
  'g++': 'gcc',
  docker: 'docker',
  bundle: 'bundler',
  rspec: 'rspec',
  composer: 'composer',
  phpunit: 'phpunit',
  dotnet: 'dotnet',
  terraform: 'terraform',
}; // prettier-ignore

const LOOKED_AT = 5_000;

/** The tools that ran, whether or not they complained: the commands that the log echoes. */
export const commands: Extractor = {
  name: 'commands',
  literals: Object.keys(TOOLS).map((tool) => `${tool} `),
  extract: (log, lines, found) => {
    for (const line of lines.slice(0, LOOKED_AT)) {
      const tool = TOOLS[ECHO.exec(log.line(line).slice(0, 400))?.groups?.tool ?? ''];
      if (tool !== undefined) found.toolchains.add(tool);
    }
  },
};
