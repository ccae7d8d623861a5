import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEvidence } from '../../graphs/triage/tool-calls.ts';
import type { ToolOutcome } from '../../src/domain/evidence.ts';
import { showPage } from '../../src/models/analyst/llm-analyst.ts';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { readCapturedFailures } from '../support/captured-failures.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { createSubjectFrom } from '../support/judging-gates.ts';
import { listLacking } from '../support/requested-lines.ts';
import { sampleBuild } from '../support/subject.ts';
import { createArchive, createContext } from '../tools/sources.ts';

/** No line that a model's call returned is lacking on its next page: of logs, files and their authors. */
const AUTHORS = ['Ada', 'Grace', 'Joan', 'Radia'];
const [LINES, EVERY] = [180, 8];

let repository: GitRepository;
let commit: string;

beforeAll(() => {
  repository = createGitRepository();
  const lines = Array.from({ length: LINES }, (_, i) => `export const tax${i} = ${i};`);
  commit = repository.commit({ 'src/tax.ts': lines.join('\n') }, 'Begin', 'Barbara');
  for (const [i, author] of AUTHORS.entries()) {
    lines[90 + i] = `export const tax${90 + i} = ${1000 + i};`;
    commit = repository.commit({ 'src/tax.ts': lines.join('\n') }, `Raise tax ${i}`, author);
  }
});
afterAll(() => repository.remove());

const CALLS = [
  ['view_log', { from: 1, to: 60 }],
  ['view_log', { from: 61, to: 200 }],
  ['grep_log', { text: 'error|fail|cannot', pattern: true, ignoreCase: true, context: 2 }],
  ['read_file', { path: 'src/tax.ts' }],
  ['read_blame', { path: 'src/tax.ts', lineStart: 85, lineEnd: 100 }],
  ['read_commit_history', { path: 'src/tax.ts' }],
] as const;

/** The replies from the repository, which are the same for each log. Asking starts git many times. */
const known = new Map<string, Promise<ToolOutcome>>();

function keepReply(tool: string, args: object, ask: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  if (tool.endsWith('_log')) return ask();
  const key = JSON.stringify([tool, args]);
  const reply = known.get(key) ?? ask();
  known.set(key, reply);
  return reply;
}

describe('the model input after a tool call', () => {
  const failures = readCapturedFailures().filter((_, i) => i % EVERY === 0);
  it.each(failures.map((failure) => [failure.slug, failure] as const))(
    'contains the whole result: %s',
    async (_slug, { log }) => {
      const subject = { ...createSubjectFrom(log, { budgetTokens: 3_000 }), build: sampleBuild({ commit }) };
      const codeHost = createLocalGitHost({ clones: { [subject.build.repository]: repository.folder } });
      const ask = createContext({ codeHost, archive: createArchive({ log }) }, subject);
      const evidence = subject.excerpts.map((excerpt, i) => ({
        ...excerpt,
        id: `E${i + 1}`,
        tool: 'log',
        title: excerpt.reason,
      }));
      for (const calls of [...CALLS.map((call) => [call]), CALLS.slice(0, 2), CALLS.slice(3)]) {
        const replies = await Promise.all(
          calls.map(async ([tool, args]) => {
            const reply = await keepReply(tool, args, () => ask('CODE_ERROR', tool, args));
            return { ...reply, call: { tool, args, why: 'to see it' } };
          }),
        );
        const { found, outcomes } = numberEvidence(replies, evidence, 1);
        const page = showPage({ subject, evidence: [...evidence, ...found], outcomes }, 6_000, {
          onlyNamed: true,
        });
        expect({ calls, lacking: listLacking(page, found) }).toEqual({ calls, lacking: [] });
      }
    },
  );
});
