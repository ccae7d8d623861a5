import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { NoticeCall, NoticeSender } from '../../src/channels/channel.ts';
import { createEmbeddedPreset, loadConfig } from '../../src/config/load.ts';
import type { FixTrial } from '../../src/domain/experiment.ts';
import { createNoticeLinks } from '../../src/notifications/notice-words.ts';
import { renderComment } from '../../src/notifications/render-comment.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createGithubSuggestionClient } from '../../src/providers/github/notices.ts';
import { createGitlabSuggestionClient } from '../../src/providers/gitlab/notices.ts';
import { createProviders } from '../../src/providers/registry.ts';
import {
  findReplacement,
  placeIn,
  renderSuggestions,
  type Suggestions,
} from '../../src/providers/suggestions.ts';
import { pullRequestNotice } from '../channels/sample-notice.ts';
import { createChannelParts, send } from '../channels/sending.ts';
import {
  createCause,
  createDecision,
  createHead,
  createSituation,
} from '../notifications/sample-situation.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';
import { sampleAnalysis, sampleExperiment } from '../support/sample-analysis.ts';

function createDiff(hunk: string, path = 'src/sum.ts'): string {
  return `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n${hunk}\n`;
}

const HUNK =
  '@@ -10,5 +10,5 @@ export\n const a = 1;\n const b = 2;\n-const sum = a - b;\n+const sum = a + b;\n \n export { sum };';
/** What the pull request itself changes: line 12 is its own. */
const PATCH = '@@ -8,4 +9,6 @@\n \n const a = 1;\n const b = 2;\n+const sum = a - b;\n \n+export { sum };';

function suggestTrial(diff: string, change: Partial<FixTrial> = {}): Suggestions | null {
  return renderSuggestions(
    createSituation(createHead({ causes: [createCause(createAnalysisWith(diff, change))] })),
  );
}

function createAnalysisWith(diff: string, change: Partial<FixTrial> = {}) {
  const sentence = 'Fails 0 of 3 with it, 3 of 3 without it, and the wider check passes.';
  const attempt = {
    source: 'fix.diff',
    files: ['src/sum.ts'],
    added: 1,
    deleted: 1,
    diff,
    sentence,
    passed: 3,
    failed: 0,
    other: 0,
    exitCodes: [0, 0, 0],
    reported: true,
    checkExitCodes: [0],
    broke: [],
  };
  const before = { passed: 0, failed: 3, exitCodes: [1, 1, 1] };
  const fixes: FixTrial = {
    command: ['npm', 'test'],
    narrowed: null,
    tests: ['adds'],
    check: ['npm', 'test'],
    before,
    checkExitCodes: [],
    verdict: 'fixed',
    attempts: [{ ...attempt, verdict: 'fixed' }],
    branch: null,
    suggest: true,
    sentence,
    notes: [],
    ...change,
  };
  return sampleAnalysis({ experiment: sampleExperiment({ fixes }) });
}

describe('a fix as replaced lines', () => {
  it.each([
    ['a line', HUNK, { from: 12, before: ['const sum = a - b;'], after: ['const sum = a + b;'] }],
    ['a line that is added', '@@ -1,2 +1,3 @@\n a\n+b\n c', { from: 1, before: ['a'], after: ['a', 'b'] }],
    ['a first line that is added', '@@ -1,1 +1,2 @@\n+b\n c', { from: 1, before: ['c'], after: ['b', 'c'] }],
    [
      'lines with one between them',
      '@@ -1,3 +1,2 @@\n-a\n b\n-c\n+d',
      { from: 1, before: ['a', 'b', 'c'], after: ['b', 'd'] },
    ],
  ])('%s', (_, hunk, expected) => {
    expect(findReplacement(createDiff(hunk))).toEqual({ path: 'src/sum.ts', ...expected });
  });

  it.each([
    ['two files', createDiff(HUNK) + createDiff(HUNK, 'src/tax.ts')],
    ['two places', createDiff(`${HUNK}\n@@ -90,1 +90,1 @@\n-a\n+b`)],
    ['a new file', createDiff('@@ -0,0 +1 @@\n+a').replace('index', 'new file mode 100644\nindex')],
    ['a missing line end', createDiff('@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file')],
    ['more than fifty lines', createDiff(`@@ -1,60 +1,60 @@\n${'-a\n'.repeat(60)}${'+b\n'.repeat(59)}+b`)],
    ['characters that nobody sees', createDiff('@@ -1 +1 @@\n-a\n+if (isAdmin\u202e) {')],
    ['nothing', ''],
  ])('does not exist for %s', (_, diff) => {
    expect(findReplacement(diff)).toBeNull();
  });

  it('is placed where the pull request shows the present lines', () => {
    const replacement = findReplacement(createDiff(HUNK)) ?? { path: '', from: 0, before: [], after: [] };
    expect(placeIn(PATCH, replacement)).toEqual({ path: 'src/sum.ts', from: 12, to: 12, oldTo: null });
    expect(placeIn(PATCH.replace('+9,6', '+8,6'), replacement)).toBeNull();
    expect(placeIn(PATCH.replace('a - b', 'a * b'), replacement)).toBeNull();
    expect(placeIn('', replacement)).toBeNull();
  });
});

describe('suggestions', () => {
  it('contain the change that fixes a cause, only if they are requested', () => {
    expect(suggestTrial(createDiff(HUNK))?.suggestions).toMatchObject([
      { path: 'src/sum.ts', from: 12, cause: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
    expect(suggestTrial(createDiff(HUNK), { suggest: false })).toEqual({ suggestions: [] });
    expect(suggestTrial(createDiff(HUNK), { attempts: [] })).toEqual({ suggestions: [] });
    const rejected = createCause(createAnalysisWith(createDiff(HUNK)), { review: createDecision('reject') });
    expect(renderSuggestions(createSituation(createHead({ causes: [rejected] })))).toEqual({
      suggestions: [],
    });
    expect(renderSuggestions(createSituation(createHead()))).toBeNull();
  });

  it('exist once for each cause', () => {
    const causes = [
      createCause(createAnalysisWith(createDiff(HUNK))),
      createCause(createAnalysisWith(createDiff(HUNK))),
    ];
    expect(renderSuggestions(createSituation(createHead({ causes })))?.suggestions).toHaveLength(1);
  });

  it('are shown as a diff in the comment, wherever their lines are', () => {
    const links = createNoticeLinks(null);
    const readBody = (diff: string, change = {}) =>
      renderComment(
        createSituation(createHead({ causes: [createCause(createAnalysisWith(diff, change))] })),
        links,
      )?.body ?? '';
    const hostile = readBody(
      createDiff('@@ -1 +1 @@\n-a\n+````\n\\ No newline at end of file\n+<!-- faultline:v1 @all -->'),
    );

    expect(readBody(createDiff(HUNK))).toContain(
      '**Change that was tried and fixes it:**\n\n```diff\ndiff --git a/src/sum.ts',
    );
    expect(readBody(createDiff(HUNK), { suggest: false })).not.toContain('Change that was tried');
    expect(hostile).toContain('`````diff\n');
    expect(hostile).not.toContain('<!-- faultline:v1 @all');
    expect(readBody(createDiff(`@@ -1 +1,200 @@\n${'+a\n'.repeat(200)}`))).toContain(
      'fixes it:** 1 file, too long to show here',
    );
  });
});

interface Posted {
  readonly id: number;
  body: string;
  readonly login: string;
  readonly path: string;
  line: number | null;
}

interface Host {
  readonly client: (url: string) => NoticeSender<Suggestions>;
  /** Answers a call of its API; the word behind it is what a comment is created with. */
  readonly answer: (route: string, body: unknown, host: HostState) => unknown;
  readonly opening: string;
}

interface HostState {
  patch: string;
  comments: Posted[];
  writes: string[];
  sent: unknown[];
}

const Body = z.object({ body: z.string() });

function editComment(state: HostState, verb: string, id: number, body: unknown): unknown {
  state.writes.push(verb);
  const at = state.comments.findIndex((comment) => comment.id === id);
  if (verb === 'DELETE') return state.comments.splice(at, 1);
  const found = state.comments[at];
  if (found !== undefined) found.body = Body.parse(body).body;
  return { id };
}

function postComment(
  state: HostState,
  body: unknown,
  at: { readonly path: string; readonly line: number },
): unknown {
  state.writes.push('POST');
  state.sent.push(body);
  state.comments.push({
    id: 100 + state.comments.length,
    body: Body.parse(body).body,
    login: 'faultline-bot',
    ...at,
  });
  return { id: 100 };
}

const GITHUB: Host = {
  client: (url) =>
    createGithubSuggestionClient({
      baseUrl: url,
      token: 'ghp_secret',
      logger: silentLogger,
      retryUnitMs: 1,
      unpaced: true,
    }),
  opening: 'suggestion',
  answer: (route, body, state) => {
    const id = Number(/(\d+)$/.exec(route)?.[1] ?? 0);
    if (route === 'POST /graphql') return { data: { viewer: { login: 'faultline-bot' } } };
    if (route.endsWith('/files'))
      return [{ filename: 'src/sum.ts', patch: state.patch }, { filename: 'image.png' }];
    if (route === 'GET /repos/shop/api/pulls/1204') return { head: { sha: 'a'.repeat(40) } };
    if (route === 'GET /repos/shop/api/pulls/1204/comments')
      return state.comments.map(({ login, ...one }) => ({ ...one, user: { login } }));
    if (route === 'POST /repos/shop/api/pulls/1204/comments')
      return postComment(state, body, z.object({ path: z.string(), line: z.int() }).parse(body));
    return editComment(state, route.split(' ')[0] ?? '', id, body);
  },
};

const Position = z.object({ position: z.object({ new_path: z.string(), new_line: z.int() }) });

const GITLAB: Host = {
  client: (url) => createGitlabSuggestionClient({ baseUrl: url, token: 'glpat-secret', retryUnitMs: 1 }),
  opening: 'suggestion:-0+0',
  answer: (route, body, state) => {
    const id = Number(/(\d+)$/.exec(route)?.[1] ?? 0);
    const merge = '/projects/shop%2Fapi/merge_requests/1204';
    if (route === 'GET /user') return { username: 'faultline-bot' };
    if (route === `GET ${merge}/diffs`)
      return [{ old_path: 'src/add.ts', new_path: 'src/sum.ts', diff: state.patch }];
    if (route === `GET ${merge}`) return { diff_refs: { base_sha: 'b', start_sha: 's', head_sha: 'h' } };
    if (route === `GET ${merge}/notes`)
      return state.comments.map(({ login, path, line, ...one }) => ({
        ...one,
        author: { username: login },
        position: { new_path: path, new_line: line },
      }));
    if (route === `POST ${merge}/discussions`) {
      const { position } = Position.parse(body);
      return postComment(state, body, { path: position.new_path, line: position.new_line });
    }
    return editComment(state, route.split(' ')[0] ?? '', id, body);
  },
};

describe.each([
  ['GitHub', GITHUB],
  ['GitLab', GITLAB],
])('the suggestions on %s', (name, host) => {
  let state: HostState;
  let server: LoopbackServer;
  let notice: NoticeCall;
  beforeEach(async () => {
    state = { patch: PATCH, comments: [], writes: [], sent: [] };
    notice = pullRequestNotice();
    server = await startLoopback((request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const route = `${request.method} ${(request.url ?? '').replace('/api/v4', '').split('?')[0]}`;
          sendJson(response, 200, host.answer(route, text === '' ? null : JSON.parse(text), state));
        });
    });
  });
  afterEach(() => server.close());

  async function show(suggestions: Suggestions | null): Promise<void> {
    const { reference } = await host.client(server.url).send(suggestions ?? { suggestions: [] }, notice);
    notice = { ...notice, reference };
  }

  it('are created once at their lines, edited in place, and removed when superseded', async () => {
    await show(suggestTrial(createDiff(HUNK)));
    await show(suggestTrial(createDiff(HUNK)));
    expect(state.writes).toEqual(['POST']);
    expect(state.comments).toMatchObject([{ path: 'src/sum.ts', line: 12 }]);
    expect(state.comments[0]?.body).toMatch(
      /^<!-- faultline:v1 suggestion=[0-9a-f]{16} -->\n\*\*Faultline tried this change\.\*\* Fails 0 of 3/,
    );
    expect(state.comments[0]?.body).toContain(`\n\`\`\`${host.opening}\nconst sum = a + b;\n\`\`\`\n`);

    await show(suggestTrial(createDiff(HUNK.replace('a + b', 'b + a'))));
    expect(state.comments.map(({ body }) => body.includes('const sum = b + a;'))).toEqual([true]);
    await show({ suggestions: [] });
    expect(state.comments).toEqual([]);
    expect(state.writes).toEqual(['POST', name === 'GitHub' ? 'PATCH' : 'PUT', 'DELETE']);
  });

  it('are written if comments are configured, from the facts of the pull request', async () => {
    const prefix = `FAULTLINE_${name.toUpperCase()}`;
    const environment = {
      [`${prefix}_WRITES`]: 'comment',
      [`${prefix}_TOKEN`]: 'ghp_secret',
      [`${prefix}_URL`]: server.url,
    };
    const { providers } = loadConfig(createEmbeddedPreset('/data', '/knowledge'), environment, () => '');
    const channels = createProviders(providers).flatMap((provider) => provider.channels);
    const found = channels.find(
      (noticeChannel) => noticeChannel.channel === `${name.toLowerCase()}-suggestion`,
    );
    const channel = await found?.open?.(createChannelParts({ publicUrl: null }));
    if (channel === undefined) throw new Error('no channel');
    await send(
      channel,
      createSituation(createHead({ causes: [createCause(createAnalysisWith(createDiff(HUNK)))] })),
      notice,
    );

    expect(state.comments).toMatchObject([{ path: 'src/sum.ts', line: 12 }]);
    expect(channel.render(createSituation(createHead()))).toBeNull();
  });

  it('name the lines that they replace', async () => {
    const two = '@@ -11,2 +11,2 @@\n-const b = 2;\n-const sum = a - b;\n+const b = 3;\n+const sum = a + b;';
    await show(suggestTrial(createDiff(two)));
    const where =
      name === 'GitHub'
        ? {
            commit_id: 'a'.repeat(40),
            path: 'src/sum.ts',
            start_line: 11,
            start_side: 'RIGHT',
            line: 12,
            side: 'RIGHT',
          }
        : {
            position: {
              position_type: 'text',
              base_sha: 'b',
              start_sha: 's',
              head_sha: 'h',
              old_path: 'src/add.ts',
              new_line: 12,
            },
          };
    expect(state.sent).toMatchObject([where]);
    expect(state.comments[0]?.body).toContain(name === 'GitHub' ? '```suggestion\n' : '```suggestion:-1+0\n');
  });

  it('are not created if the pull request does not change those lines, or if none was requested', async () => {
    state.patch = '@@ -1 +1 @@\n-a\n+b';
    await show(suggestTrial(createDiff(HUNK)));
    await show({ suggestions: [] });
    expect(state.writes).toEqual([]);
  });

  it('leave comments of others with our marker alone, and follow lines that moved', async () => {
    await show(suggestTrial(createDiff(HUNK)));
    const [own] = state.comments;
    if (own !== undefined) state.comments.push({ ...own, id: 7, login: 'mallory' });
    if (own !== undefined) own.line = null;
    await show(suggestTrial(createDiff(HUNK)));
    expect(state.comments.map(({ id, login }) => [id, login])).toEqual([
      [7, 'mallory'],
      [102, 'faultline-bot'],
    ]);
  });

  it('cannot be ended by a fence in the change', async () => {
    const hunk = '@@ -12 +12,3 @@\n-const sum = a - b;\n+```\n+````\n+[a](https://evil.example)';
    await show(suggestTrial(createDiff(hunk)));
    expect(state.comments[0]?.body).toContain(
      `\n\`\`\`\`\`${host.opening}\n\`\`\`\n\`\`\`\`\n[a](https://evil.example)\n\`\`\`\`\`\n`,
    );
  });
});
