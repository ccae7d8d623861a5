import type { Facts } from './facts.ts';
import { isForeignPath } from './paths.ts';

/**
 * Returns the module that a line reports as missing, as written: "react", "./tax", "six", "app.models".
 * Returns null if it names none.
 */
export function readMissingModule(text: string): string | null {
  return NAMED.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])[0] ?? null;
}

/**
 * Checks whether the missing module is a file of the project: a relative or absolute path, or a name that
 * begins with a folder of the project's own code.
 */
export function isOwnModule(text: string, facts: Facts): boolean {
  const name = readMissingModule(text);
  if (name === null) return false;
  if (isPathName(name)) return !isForeignPath(name) && !NATIVE.test(name);
  const from = /cannot import name .{1,120}\((\/[^)\n]{1,300})\)/.exec(text)?.[1];
  if (from !== undefined) return !isForeignPath(from);
  const root = name.split(/[./]/)[0] ?? name;
  return (listOwnRoots(facts).has(root) && !isInstalled(root, facts)) || isNamedByCommand(name, facts);
}

/**
 * Checks whether the job installs a package of this name, even if a folder of the project has the same name.
 */
function isInstalled(name: string, { shown }: Facts): boolean {
  const forms = [
    `Collecting ${name}`,
    `wheel for ${name}`,
    `Failed to build ${name}`,
    `${name}==`,
    `${name} @ `,
  ];
  return forms.some((form) => shown.includes(form));
}

/** Checks whether a bundler's command names this file: "esbuild pages/menu.js". */
function isNamedByCommand(name: string, { shown }: Facts): boolean {
  const lines = shown.split('\n').filter((line) => !/["']/.test(line));
  return /\/.*\.\w{1,4}$/.test(name) && lines.some((line) => `${line} `.includes(` ${name} `));
}

/** The platform-specific part of a package, which the package itself loads. */
const NATIVE = /[.-](?:linux|darwin|win32)-(?:x64|arm64)[\w-]{0,10}(?:\.node)?$/;

/**
 * Checks whether a missing header belongs to the project: the line quotes it with the path of one of the
 * project's sources.
 */
export function isOwnHeader(text: string, facts: Facts): boolean {
  const header = /([\w./+-]{1,160}\.h(?:pp|h|xx)?)'?(?::| file)/.exec(text)?.[1];
  if (header === undefined) return false;
  const folder = header.includes('/') ? (header.split('/')[0] ?? '') : '';
  return header.startsWith('.') || (folder !== '' && listOwnRoots(facts).has(folder));
}

/** Checks whether the name uses a path mapping: "@/x", "~/x", "src/x". */
export function isMappedName(name: string): boolean {
  return /^(?:@\/|~\/|#\/|src\/)/.test(name);
}

const NAMED: readonly RegExp[] = [
  /No module named '?([\w.]{1,120})'?/,
  /Cannot find (?:module|package) '([^'\n]{1,200})'/,
  /Can't resolve '([^'\n]{1,200})'/,
  /[Ff]ailed to resolve import "([^"\n]{1,200})"/,
  /Could not resolve "([^"\n]{1,200})"/,
  /cannot import name .{1,120}? from (?:partially initialized module )?'?([\w.]{1,120})/,
  /module named "([\w.]{1,120})"/,
];

function isPathName(name: string): boolean {
  return /^(?:\.{1,2}\/|\/|[A-Za-z]:\\)/.test(name) || isMappedName(name);
}

/**
 * Lists the top-level folders of the project's files: "app" of app/models.py, "src" and "billing" of
 * src/billing/tax.py.
 */
function listOwnRoots(facts: Facts): ReadonlySet<string> {
  const roots = new Set<string>();
  for (const path of listOwnPaths(facts)) {
    const parts = path.replace(/^\.?\//, '').split(/[\\/]/);
    for (const part of parts.slice(-4)) roots.add(part.replace(/\.\w{1,4}$/, ''));
  }
  const named = facts.shown.matchAll(/--cov[= ](?:src\/)?(\w{2,60})\b|(?:^|[\s'"(])src\/(\w{2,60})\/\w/g);
  for (const [, measured, inSource] of named) roots.add(measured ?? inSource ?? '');
  for (const common of ['tests', 'test', 'src', 'lib', 'node_modules', 'python', '']) roots.delete(common);
  return roots;
}

function listOwnPaths(facts: Facts): string[] {
  const { exceptions, failingTests, diagnostics } = facts.subject;
  const frames = exceptions.flatMap((entry) => entry.frames.filter(({ own }) => own));
  const paths = [...frames, ...failingTests, ...diagnostics].flatMap(({ file }) => file ?? []);
  return paths.filter((path) => !isForeignPath(path));
}

const BY_PORT: Readonly<Record<string, string>> = {
  '5432': 'PostgreSQL',
  '3306': 'MySQL',
  '6379': 'Redis',
  '27017': 'MongoDB',
  '5672': 'RabbitMQ',
  '9092': 'Kafka',
  '9200': 'Elasticsearch',
  '11211': 'Memcached',
  '4444': 'Selenium',
  '2375': 'Docker',
  '1433': 'SQL Server',
  '4566': 'LocalStack',
  '9000': 'MinIO',
};

const LOCAL =
  /\b(localhost|127\.0\.0\.1|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal)(?:[:/ ]{1,2}(?:port )?(\d{2,5}))?/;
const NAMED_SERVICE =
  /\b(postgres(?:ql)?|mysql|mariadb|redis|mongo(?:db)?|rabbitmq|kafka|zookeeper|elasticsearch|opensearch|memcached|selenium|minio|localstack|db|database|cache|broker|queue)(?::(\d{2,5}))(?!\.\w)/i;

/**
 * Returns the service of the job that refused the connection according to a line, with its name if the port
 * identifies it. Returns null if the service is external.
 */
export function findOwnService(
  text: string,
): { readonly host: string; readonly port: string | null; readonly name: string | null } | null {
  const found = LOCAL.exec(text) ?? NAMED_SERVICE.exec(text);
  if (found?.[1] === undefined) return null;
  const port = found[2] ?? /\bport:? (\d{2,5})/.exec(text)?.[1] ?? null;
  return { host: found[1], port, name: port === null ? null : (BY_PORT[port] ?? null) };
}

/** Returns the host and port that a line names, internal or external: "registry.example.org:443". */
export function findHost(text: string): string | null {
  const service = findOwnService(text);
  if (service !== null) return service.port === null ? service.host : `${service.host}:${service.port}`;
  return (
    /https?:\/\/([\w.-]{3,200}(?::\d{2,5})?)/.exec(text)?.[1] ??
    /\b(\d{1,3}(?:\.\d{1,3}){3}:\d{2,5})\b/.exec(text)?.[1] ??
    /(?:host:? '?|ENOTFOUND |EAI_AGAIN |lookup |to |UnknownHostException: )([\w-]{1,63}(?:\.[\w-]{1,63}){1,6}(?::\d{2,5})?)/.exec(
      text,
    )?.[1] ??
    null
  );
}

/** Checks whether a line says that a registry answered and does not have the version or package. */
export function isPublishedVersionMissing(text: string): boolean {
  return VERSION_MISSING.test(text) && !/E: Failed to fetch|\b50[0234]\b|\b429\b/.test(text);
}

const VERSION_MISSING =
  /npm (?:ERR!|error) (?:code )?(?:E404|ETARGET|notarget)|No matching version found|is not in (?:this|the npm) registry|Could not find artifact|was not found in https?:\/\/|No matching distribution|Could not find a version that satisfies|unknown revision|NU110[0-3]|Couldn't find any versions for|not found: manifest unknown|manifest for \S{1,200} not found/i;

const REGISTRY =
  /registry\.|\/registry|repo1?\.maven|repo\.\w|npmjs|pypi|rubygems|crates\.io|proxy\.golang|packagist|nuget|ghcr\.io|docker\.io|gcr\.io|artifactory|nexus|pkg\.github\.com|clojars|npm (?:ERR!|error)|pip\b|Could not (?:transfer|GET|HEAD|resolve)|docker|helm|pull access/i;

/**
 * Returns the HTTP status of a registry on this line. Returns null for a status that does not decide between
 * categories.
 */
export function readRegistryStatus(text: string): number | null {
  if (!REGISTRY.test(text)) return null;
  const found =
    /\b(?:E|code |status(?: code)?:? |HTTP(?:\/\d(?:\.\d)?)? |error:? |Received status code )?(401|403|404|429|500|502|503|504)\b/i.exec(
      text,
    );
  return found?.[1] === undefined ? null : Number(found[1]);
}
