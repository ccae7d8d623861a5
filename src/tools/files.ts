import { z } from 'zod';
import { NAMED_CI_FILE } from '../domain/ci-files.ts';
import type { Finding, ToolCall } from '../domain/evidence.ts';
import type { FailingTest } from '../domain/failure.ts';
import type { FindingFrom, PlainFinding } from '../domain/finding-data.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { findNearestPaths, getStem } from '../lib/nearest-paths.ts';
import { listRepositoryPaths } from '../log/paths.ts';
import type { CodeHost } from '../ports/code-host.ts';
import type { Clues } from '../ports/toolbox.ts';
import { findWindowAround, listWindowPieces } from './findings.ts';
import { type BuiltCode, defineCodeTool, findBuiltCode, formatTree, testFilePaths } from './repository.ts';
import type { RepositoryScope, Tool } from './tool.ts';

/** The number of lines that are shown on either side of a requested line. */
const AROUND = 20;
/** The maximum number of lines that are shown at once. */
const MAX_LINES = 200;
/** The maximum number of files among which similar names are searched. */
const MAX_LOOKED_AT = 20_000;
/** The maximum number of lines that mention a missing file. */
const MAX_MENTIONS = 5;

const FileParameters = z.strictObject({
  path: z.string().trim().min(1).max(1_024).describe('Path in the repository, or as the log prints it'),
  line: z.int().min(1).optional().describe('The line of interest, 1-based; lines around it come too'),
  lineStart: z.int().min(1).optional(),
  lineEnd: z.int().min(1).optional().describe('At most 200 lines are shown; the answer says what was cut'),
});
type FileArgs = z.output<typeof FileParameters>;

/** Creates the tool that reads a file in the built commit. */
export function readFile(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_file',
    question: 'What stands in this file at this line, in the commit that was built?',
    serves: { CODE_ERROR: 3, CONFIG_ERROR: 2, DEPENDENCY_ERROR: 2 },
    investigator: 'code',
    asks: 'code host',
    precedence: 10,
    costClass: 'medium',
    usualLatencyMs: 500,
    parameters: FileParameters,
    alternative: { tool: 'search_code', args: chooseAlternativeArgs },
    keptBy: 'arguments',
    argumentsFrom: findFileToRead,
    async run(args, context) {
      const code = await findBuiltCode(codeHost, context);
      const located = await code.locate(args.path);
      if ('findings' in located && located.findings.length > 0) return located.findings;
      if ('findings' in located) return await proposePaths(code, args.path);
      const range = toRange(args);
      const file = await codeHost.readFile({ ...code.at, path: located.path, ...range }, code.signal);
      if (file === null) return await proposePaths(code, args.path);
      const data = { path: file.path, commit: code.at.ref, totalLines: file.totalLines };
      const pieces = listWindowPieces(file.path, code.titled(file.path), file);
      return tellCut(pieces, args, file.totalLines).map((piece) => ({ ...piece, data }));
    },
  });
}

/** States in the title of the last piece which requested lines are not shown. */
function tellCut(pieces: readonly PlainFinding[], asked: FileArgs, totalLines: number): PlainFinding[] {
  const { lineStart = 1, lineEnd, line } = asked;
  const last = pieces.at(-1);
  const lastLine = last?.lineEnd ?? 0;
  const wanted = line === undefined ? Math.min(lineEnd ?? totalLines, totalLines) : lastLine;
  if (last === undefined || lastLine >= wanted || lastLine < lineStart) return [...pieces];
  const rest = `lines ${lastLine + 1}–${wanted} are not shown: ask for them by lineStart`;
  const title = `${last.title} of ${totalLines}; ${rest}`;
  return [...pieces.slice(0, -1), { ...last, title }];
}

/**
 * Returns alternatives for a path that does not exist: the files with the most similar names, and the lines
 * that mention its name.
 */
async function proposePaths(
  { host, at, signal, titled }: BuiltCode,
  path: string,
): Promise<FindingFrom<'read_file'>[]> {
  const [inside] = listRepositoryPaths(path);
  // A path outside the checkout is not a renamed file of the repository.
  if (inside === undefined) return [];
  const stem = getStem(inside);
  const canSearch = stem.length >= 3 && !/[\n\r\0]/.test(stem);
  const [list, mentions] = await Promise.all([
    host.listFiles({ ...at, limit: MAX_LOOKED_AT }, signal),
    canSearch ? host.search({ ...at, text: stem, limit: MAX_MENTIONS }, signal) : [],
  ]);
  const nearest = findNearestPaths(inside, list.paths);
  if (nearest.length === 0 && mentions.length === 0) return [];
  const lines = [
    ...(nearest.length === 0 ? [] : ['nearest names:', ...nearest]),
    ...(mentions.length === 0 ? [] : [`lines with "${stem}":`]),
    ...mentions.map((hit) => `${hit.path}:${hit.line}`),
  ];
  const title = titled(`${path} does not exist; name one of these instead`);
  const data = { missing: [path], candidates: nearest };
  return [{ title, text: lines.join('\n'), source: 'repository', data }];
}

function toRange(args: FileArgs): { lineStart: number; lineEnd: number } {
  if (args.lineStart !== undefined || args.line === undefined) {
    const lineStart = args.lineStart ?? 1;
    const last = lineStart + MAX_LINES - 1;
    return { lineStart, lineEnd: Math.min(args.lineEnd ?? last, last) };
  }
  return { lineStart: Math.max(1, args.line - AROUND), lineEnd: args.line + AROUND };
}

/** Creates arguments that search the file's failed function, or else the file's name. */
function chooseAlternativeArgs(call: ToolCall, subject: TriageSubject): Record<string, unknown> {
  const path = typeof call.args.path === 'string' ? call.args.path : '';
  const name = listRepositoryPaths(path)[0]?.split('/').at(-1) ?? path.slice(-100);
  const frames = [...subject.exceptions, ...subject.failures].flatMap((item) => item.frames);
  const failed = frames
    .find((frame) => name !== '' && frame.file.endsWith(name))
    ?.function?.split(/[.#:]/)
    .at(-1);
  return { text: failed !== undefined && failed.length > 3 ? failed : name.replace(/\.\w+$/, '') };
}

/** The maximum number of lines that a code host returns for one request. */
const WINDOW = 200;

const TestFileParameters = z.strictObject({
  test: z.string().min(1).max(500).optional().describe('Name of the failing test; by default the first one'),
  file: z.string().min(1).max(1_024).optional().describe('Its file, where the report names it'),
});

/** Creates the tool that shows what the failing test expects. */
export function readTestFile(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_test_file',
    question: 'What does the failing test do, and what does it expect?',
    serves: { TEST_FAILURE: 4 },
    investigator: 'code',
    asks: 'code host',
    costClass: 'medium',
    usualLatencyMs: 500,
    parameters: TestFileParameters,
    keptBy: 'failure',
    argumentsFrom({ subject: { failingTests, failures } }) {
      const test = failingTests[0] ?? failures.find((failure) => failure.test !== null)?.test ?? null;
      if (test === null) return null;
      const name = test.name.slice(0, 500);
      return test.file ? { test: name, file: test.file } : { test: name };
    },
    async run({ test: name, file }, context) {
      const known = chooseTest(context.subject, name);
      if (known === null) return [];
      const test = file === undefined ? known : { ...known, file };
      const code = await findBuiltCode(codeHost, context);
      for (const path of testFilePaths(test)) {
        const located = await code.locate(path);
        if ('path' in located) return showTest(code, test, located.path);
        if (located.findings.length > 0) return located.findings;
      }
      return [];
    },
  });
}

function chooseTest(subject: TriageSubject, name: string | undefined): FailingTest | null {
  const tests = [...subject.failures.flatMap((failure) => failure.test ?? []), ...subject.failingTests];
  const named =
    name === undefined ? undefined : tests.find((test) => test.name === name || test.name.includes(name));
  return named ?? (name === undefined ? (tests[0] ?? null) : null);
}

async function showTest(code: BuiltCode, test: FailingTest, path: string) {
  const { host, at, signal } = code;
  const line = test.line ?? (await findLineOfTest(code, test, path)) ?? 1;
  const lineStart = Math.max(1, line - WINDOW / 2);
  const file = await host.readFile({ ...at, path, lineStart, lineEnd: lineStart + WINDOW - 1 }, signal);
  if (file === null) return [];
  const finding = findWindowAround(path, code.titled(`${test.name} in ${path}`), file, line);
  return finding === null ? [] : [{ ...finding, data: { path, line, commit: at.ref, test: test.name } }];
}

/**
 * Finds the line of the test's name in its file. Searches for the last part of the name, because reports
 * prepend the names of suites.
 */
async function findLineOfTest({ host, at, signal }: BuiltCode, test: FailingTest, path: string) {
  const testLine = test.name
    .replace(/[[(][^\])]{0,500}[\])]$/, '')
    .split(/ [>›] |::|#|\.(?=\w+$)/)
    .at(-1)
    ?.trim();
  if (testLine === undefined || testLine.length < 3 || /[\n\r\0]/.test(testLine)) return null;
  const hits = await host.search({ ...at, text: testLine, limit: 500 }, signal);
  return hits.find((hit) => hit.path === path)?.line ?? null;
}

/** The documents that describe a repository, shortest first. llms.txt is written for models (llmstxt.org). */
const DOCUMENTS: readonly RegExp[] = [
  /^llms\.txt$/i,
  /^(?:docs\/|\.github\/)?readme(?:\.(?:md|rst|txt|adoc|markdown|org))?$/i,
];
const MAX_LISTED = 5_000;
const LINES = 200;

const DocsParameters = z.strictObject({
  folder: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('A folder (a package of a monorepo); by default the whole repository'),
});

/** Creates the tool that describes the repository and its layout. */
export function readRepositoryDocs(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'read_repository_docs',
    question: 'What does the repository say of itself (llms.txt, else its README), and how is it laid out?',
    serves: { CODE_ERROR: null },
    investigator: 'documents',
    asks: 'code host',
    costClass: 'medium',
    usualLatencyMs: 700,
    parameters: DocsParameters,
    keptBy: 'arguments',
    async run({ folder = '' }, context): Promise<Finding[]> {
      const code = await findBuiltCode(codeHost, context);
      const parts = folder.split('/').filter((part) => part !== '' && part !== '.');
      const under = parts.join('/');
      const query = { ...code.at, limit: MAX_LISTED, ...(under === '' ? {} : { under }) };
      const { paths, truncated } = await codeHost.listFiles(query, code.signal);
      if (paths.length === 0) return [];
      const document = await readDocument(code, under, paths);
      const tree: Finding = {
        title: code.titled(
          `${[code.at.repository, ...parts].join('/')}: ${paths.length}${truncated ? '+' : ''} files ` +
            'by folder',
        ),
        text: formatTree(paths, under),
        source: 'repository',
        data: { files: paths.length, truncated },
      };
      return document === null ? [tree] : [document, tree];
    },
  });
}

/** Returns the first document that exists and is not empty. */
async function readDocument(
  { host, at, signal, titled }: BuiltCode,
  under: string,
  paths: readonly string[],
): Promise<Finding | null> {
  const inside = (path: string) => (under === '' ? path : path.slice(under.length + 1));
  for (const pattern of DOCUMENTS) {
    const path = [...paths]
      .sort((left, right) => left.length - right.length)
      .find((other) => pattern.test(inside(other)));
    if (path === undefined) continue;
    const file = await host.readFile({ ...at, path, lineStart: 1, lineEnd: LINES }, signal);
    if (file === null || file.lines.every((line) => line.trim() === '')) continue;
    const finding = findWindowAround(path, titled(path), file, 1);
    if (finding !== null) return { ...finding, data: { path, commit: at.ref } };
  }
  return null;
}

/** The maximum number of repositories that are listed before those of other owners are removed. */
const LOOKED_AT = 200;

const RepositoriesParameters = z.strictObject({
  name: z.string().trim().min(1).max(100).optional().describe('Only repositories whose name contains this'),
  limit: z.int().min(1).max(50).default(30),
});

/**
 * Creates the tool that lists the readable repositories. Only those of the build's owner are listed: every
 * reader of the
 * build can read the answer, and it must not reveal the names of other owners' private repositories.
 */
export function listRepositories(codeHost: CodeHost, scope: RepositoryScope): Tool {
  return defineCodeTool(codeHost, {
    name: 'list_repositories',
    question: "Which repositories of this build's owner can be read, and what are they for?",
    serves: { CODE_ERROR: null },
    investigator: 'code',
    asks: 'code host',
    costClass: 'low',
    usualLatencyMs: 400,
    parameters: RepositoriesParameters,
    async run({ name, limit }, { subject, signal }) {
      const all = await codeHost.listRepositories({ limit: LOOKED_AT }, signal);
      const owner = getOwner(subject.build.repository);
      const isVisible = await scope(subject.build.repository);
      const found = all
        .filter((repositoryInfo) => isVisible(repositoryInfo.repository))
        .filter((repositoryInfo) => getOwner(repositoryInfo.repository) === owner)
        .filter(
          (repositoryInfo) =>
            name === undefined || repositoryInfo.repository.toLowerCase().includes(name.toLowerCase()),
        )
        .slice(0, limit);
      if (found.length === 0) return [];
      const lines = found.map(({ repository, defaultBranch, description }) => {
        const branch = defaultBranch === null ? '' : ` (${defaultBranch})`;
        return `${repository}${branch}${description === null ? '' : `: ${description}`}`;
      });
      const data = {
        repositories: found.map(({ repository, defaultBranch }) => ({ repository, defaultBranch })),
      };
      return [
        {
          title: `Repositories of ${owner} that can be read: ${found.length}`,
          text: lines.join('\n'),
          source: 'repositories',
          data,
        },
      ];
    },
  });
}

function getOwner(repository: string): string {
  return repository.split('/')[0]?.toLowerCase() ?? '';
}

/**
 * Returns the file to read: code for a code error, a CI file for a set-up error, and a manifest or lock file
 * for a dependency error.
 */
function findFileToRead({ subject, category, located, manifest }: Clues): Record<string, unknown> | null {
  if (category === 'CONFIG_ERROR') return findPathAlone(findConfiguration(subject));
  if (category === 'DEPENDENCY_ERROR') return findPathAlone(manifest);
  if (located === null) return null;
  const { path, line } = located;
  return { path, lineStart: Math.max(1, line - AROUND), lineEnd: line + AROUND };
}

function findPathAlone(path: string | null): Record<string, unknown> | null {
  return path === null ? null : { path };
}

function findConfiguration(subject: TriageSubject): string | null {
  const text = subject.excerpts.map((excerpt) => excerpt.text).join('\n');
  return NAMED_CI_FILE.exec(text)?.[0] ?? (/\bJenkinsfile\b/.test(text) ? 'Jenkinsfile' : null);
}
