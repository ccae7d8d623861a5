import { execFileSync } from 'node:child_process';
import { homedir, hostname, release } from 'node:os';
import { dirname } from 'node:path';

/**
 * Patterns of hosts, each with its replacement. They are the only words in which a captured log may differ
 * from the output of the tools. Fixtures thus have one invented host per ecosystem, so that nothing can be
 * learned from a host name.
 */
const publicHosts: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bregistry\.npmjs\.org\b/g, 'npm.packages.example'],
  [/\bfiles\.pythonhosted\.org\b/g, 'files.pypi.packages.example'],
  [/\bpypi\.org\b/g, 'pypi.packages.example'],
  [/\bproxy\.golang\.org\b/g, 'go.packages.example'],
  [/\bsum\.golang\.org\b/g, 'sum.go.packages.example'],
  [/\b(index|static)\.crates\.io\b/g, '$1.crates.packages.example'],
  [/\brepo\.maven\.apache\.org\b/g, 'maven.packages.example'],
];

/**
 * Replaces registry hosts and the kernel's release by neutral names. Only ASCII is replaced, so bytes that
 * are not UTF-8 are unchanged.
 */
export function neutralizeLog(log: Buffer): Buffer {
  let text = log.toString('latin1');
  for (const [host, name] of publicHosts) text = text.replace(host, name);
  text = text.replaceAll(release(), '6.8.0-generic');
  for (const host of listConfiguredHosts()) text = text.replaceAll(host, 'mirror.packages.example');
  return Buffer.from(text, 'latin1');
}

/** Throws if a log contains something of the machine on which it was captured. */
export function assertNeutral(label: string, log: Buffer, checkout: string): void {
  const text = log.toString('latin1');
  const paths = [dirname(checkout), checkout, homedir(), '/root'].filter((path) => path !== '/');
  const words = [
    ...listConfiguredHosts(),
    hostname().length > 3 ? hostname() : '',
    ...listNameservers(),
    release(),
    '/var/tmp/capture-cache',
    'scripts/capture',
  ];
  const forbidden = [
    ...paths.map((path) => new RegExp(`(?<![\\w.~-])${escapePattern(path)}(?![\\w-])`)),
    ...words.filter((word) => word !== '').map((word) => new RegExp(escapePattern(word))),
    /\b(?:ghp|gho|npm|pypi|sk)[-_][A-Za-z0-9]{20,}/,
    /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  ];
  for (const pattern of forbidden) {
    const line = text.split('\n').find((candidate) => pattern.test(candidate));
    if (line !== undefined)
      throw new Error(`${label} names this machine (${pattern.source}): ${line.slice(0, 200)}`);
  }
}

let hosts: readonly string[] | undefined;

function listConfiguredHosts(): readonly string[] {
  hosts ??= [
    ask('npm', ['config', 'get', 'registry']),
    ask('pip', ['config', 'list']),
    ask('go', ['env', 'GOPROXY', 'GOSUMDB']),
    ask('cargo', ['config', 'get', '-Zunstable-options']),
    ...Object.entries(process.env).map(([name, value]) =>
      /proxy|registry|index_url|mirror/i.test(name) ? (value ?? '') : '',
    ),
  ]
    .flatMap((answer) =>
      [...answer.matchAll(/https?:\/\/(?:[^@/\s]*@)?([^/:\s'",]+)/g)].map((match) => match[1] ?? ''),
    )
    .filter((host) => host !== '' && host !== 'localhost');
  return hosts;
}

function listNameservers(): string[] {
  return [...ask('cat', ['/etc/resolv.conf']).matchAll(/^nameserver\s+(\S+)/gm)].map(
    (match) => match[1] ?? '',
  );
}

function ask(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
