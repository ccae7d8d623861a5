import { z } from 'zod';
import type { FailingTest } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { keptByCommit } from './kept-by-commit.ts';
import { windowAround } from './log-window.ts';
import { ambiguousPath, codeUnavailable, locateFile, type ResolvedCommit, resolveCommit, withNote } from './repository-file.ts';
import { testFilePaths } from './test-file.ts';
import { defineTool, type Tool, type ToolContext } from './tool.ts';

/** Lines of the file read before its failing test is looked for: what one question to a code host returns. */
const WINDOW = 200;

const Parameters = z.strictObject({
  test: z.string().min(1).max(500).optional().describe('Name of the failing test; by default the first one'),
  file: z.string().min(1).max(1_024).optional().describe('Its file, where the report names it'),
});

/** What does the failing test expect? */
export function readTestFile(codeHost: CodeHost): Tool {
  return defineTool({
    name: 'read_test_file',
    question: 'What does the failing test do, and what does it expect?',
    categories: ['TEST_FAILURE'],
    costClass: 'medium',
    usualLatencyMs: 500,
    provider: `code-host:${codeHost.driver}`,
    parameters: Parameters,
    cache: keptByCommit(codeHost),
    unavailable: (subject) => codeUnavailable(codeHost, subject),
    async run({ test: name, file }, context) {
      const known = chooseTest(context.subject, name);
      if (known === null) return [];
      const test = file === undefined ? known : { ...known, file };
      const commit = await resolveCommit(codeHost, context.subject, context.signal);
      for (const path of testFilePaths(test)) {
        const query = { repository: context.subject.build.repository, ref: commit.ref, path };
        const located = await locateFile(codeHost, query, context.signal);
        if (located === null) continue;
        if ('candidates' in located) return [ambiguousPath(path, located.candidates)];
        return showTest(codeHost, test, located.path, commit, context);
      }
      return [];
    },
  });
}

function chooseTest(subject: TriageSubject, name: string | undefined): FailingTest | null {
  const tests = [...subject.failures.flatMap((failure) => failure.test ?? []), ...subject.failingTests];
  const named = name === undefined ? undefined : tests.find((test) => test.name === name || test.name.includes(name));
  return named ?? (name === undefined ? (tests[0] ?? null) : null);
}

async function showTest(codeHost: CodeHost, test: FailingTest, path: string, commit: ResolvedCommit, context: ToolContext) {
  const line = test.line ?? (await lineOfTest(codeHost, test, path, commit, context)) ?? 1;
  const lineStart = Math.max(1, line - WINDOW / 2);
  const query = { repository: context.subject.build.repository, ref: commit.ref, path, lineStart, lineEnd: lineStart + WINDOW - 1 };
  const file = await codeHost.readFile(query, context.signal);
  if (file === null) return [];
  const finding = windowAround(path, withNote(`${test.name} in ${path}`, commit), { lineStart: file.lineStart, lines: file.lines }, line);
  return finding === null ? [] : [{ ...finding, data: { path, line, commit: commit.ref, test: test.name } }];
}

/** Where the test's own name stands in its file; its last part, since reports join the names of suites. */
async function lineOfTest(codeHost: CodeHost, test: FailingTest, path: string, commit: ResolvedCommit, context: ToolContext) {
  const own = test.name
    .replace(/[[(][^\])]{0,500}[\])]$/, '')
    .split(/ [>›] |::|#|\.(?=\w+$)/)
    .at(-1)
    ?.trim();
  if (own === undefined || own.length < 3 || /[\n\r\0]/.test(own)) return null;
  const query = { repository: context.subject.build.repository, ref: commit.ref, text: own, limit: 500 };
  const hits = await codeHost.search(query, context.signal);
  return hits.find((hit) => hit.path === path)?.line ?? null;
}
