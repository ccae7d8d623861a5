import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GivenAnalysis } from '../../src/domain/analysis.ts';
import { layOutAction } from '../action/runner.ts';
import { createFakeGithub, type FakeGithub } from '../support/fake-github.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { findRealCiProgram, waitUntil } from '../support/gitea-server.ts';
import { type GithubApi, startGithubApi } from '../support/github-api.ts';
import { sendJson } from '../support/loopback-server.ts';
import { installOtherNode } from '../support/other-node.ts';
import { TOKEN } from '../support/service.ts';
import { installEmbedded } from './install-embedded.ts';
import type { Installation } from './webhook-to-review.ts';

const WORKFLOW = `name: ci
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - name: Test
        run: node --test --test-reporter=spec test/cart.test.mjs 2>&1 | tee test.log
        shell: bash
      - if: failure()
        id: faultline
        uses: acme/faultline/action@v1
        with:
          log: '*.log'
          confirm: node --test test/cart.test.mjs
          confirm-runs: 3
          bisect: true
          try-fix: fix.diff
      - if: failure()
        env:
          SAID: \${{ steps.faultline.outputs.category }} \${{ steps.faultline.outputs.confidence }} \${{ steps.faultline.outputs.verdict }} \${{ steps.faultline.outputs.culprit }}
          JSON: \${{ steps.faultline.outputs.json }}
          PATCH: \${{ steps.faultline.outputs.patch }}
        run: |
          echo "patch $PATCH" | tail -n 1
          echo "outputs $SAID"
          echo "outputs $JSON"
          echo "outcome \${{ steps.faultline.outcome }}"
`;
/** The same for a pull request, with a server. */
const PULL = `name: pull
on: pull_request
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - name: Test
        run: node --test --test-reporter=spec test/cart.test.mjs 2>&1 | tee test.log
        shell: bash
      - if: failure()
        uses: acme/faultline/action@v1
        with:
          log: '*.log'
          server-url: \${{ vars.FAULTLINE_URL }}
          token: \${{ secrets.FAULTLINE_TOKEN }}
          confirm: node --test test/cart.test.mjs
          confirm-runs: 3
          bisect: true
          try-fix: fix.diff
          suggest: true
`;
const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.mjs';
test('cart adds up', () => assert.equal(total([250, 50]), 300));
`;

let folder: string;
let shop: GitRepository;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-act-'));
  await layOutAction(join(folder, 'faultline'));
  shop = createGitRepository();
  const total = 'export const total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n';
  shop.commit(
    {
      'src/cart.mjs': total,
      'test/cart.test.mjs': TEST,
      '.github/workflows/ci.yml': WORKFLOW,
      '.github/workflows/pull.yml': PULL,
    },
    'Start the shop',
  );
  const broken = total.replace(', 0', ', 1');
  const diff = `--- a/src/cart.mjs\n+++ b/src/cart.mjs\n@@ -1 +1 @@\n-${broken}+${total}`;
  shop.commit({ 'src/cart.mjs': broken, 'fix.diff': diff }, 'Start sums at one');
  shop.git('remote', 'add', 'origin', 'https://github.com/acme/shop.git');
});
afterAll(async () => {
  shop.remove();
  await rm(folder, { recursive: true, force: true });
});

const Line = z.object({ msg: z.string() });

/** What the jobs print under act, without containers, with this Node on PATH. */
async function act(
  node: string,
  event: 'push' | 'pull_request',
  ...args: string[]
): Promise<{ readonly exitCode: number; readonly lines: readonly string[] }> {
  const program = findRealCiProgram('act');
  const env = {
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
  };
  const local = `acme/faultline@v1=${join(folder, 'faultline')}`;
  const given = [
    event,
    '--json',
    '--no-cache-server',
    '-P',
    'ubuntu-latest=-self-hosted',
    '--local-repository',
    local,
    ...args,
  ];
  return new Promise((resolve) => {
    execFile(
      program,
      given,
      { cwd: shop.folder, env, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout) => {
        const lines = stdout
          .split('\n')
          .flatMap((line) => (line.startsWith('{') ? Line.parse(JSON.parse(line)).msg.trimEnd() : []));
        resolve({ exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, lines });
      },
    );
  });
}

describe.each(['20.20.2', '22.23.3'])('our Action under act with Node %s', (version) => {
  it('explains the failure in the job, and does not change its result', async () => {
    const { exitCode, lines } = await act(await installOtherNode(version), 'push');
    const said = lines.join('\n');

    expect(exitCode, said).toBe(1);
    expect(said).toContain('Success - Main acme/faultline/action@v1');
    expect(said).toMatch(
      new RegExp(`^outputs TEST_FAILURE 0\\.9\\d this-change ${shop.git('rev-parse', 'HEAD')}$`, 'm'),
    );
    expect(said).toMatch(/^\+export const total = .* 0\);$/m);
    expect(said).toMatch(/^outputs \[\{"category":"TEST_FAILURE".*"path":"src\/cart\.mjs","line":1,/m);
    expect(said).toMatch(/::error file=src\/cart\.mjs,line=1,title=“cart adds up”/);
    expect(said).toMatch(
      /Summary - ### Faultline: 1 cause\s+\*\*Fails 3 of 3 here, 0 of 3 on the base \(\w{7}\): introduced by this change/,
    );
    expect(said).toMatch(/Summary - ### Faultline: 1 cause[\s\S]+\d {2} +AssertionError/);
    const shown = lines.filter((line) => line.includes('set-output')).length;
    console.info(
      `act with Node ${version}: 1 failed job, 1 answer, ${shown} outputs, 1 annotation, 1 summary`,
    );
  });
});

const Reported = z.object({ analyses: z.array(GivenAnalysis) });
const Review = z.object({ body: z.string(), path: z.string(), line: z.int(), commit_id: z.string() });

describe('a pull request under act, with a server and an imitation of GitHub', () => {
  let client: FakeGithub;
  let github: GithubApi;
  let service: Installation;
  beforeAll(async () => {
    client = createFakeGithub();
    github = await startGithubApi({ client });
    service = await installEmbedded({
      FAULTLINE_GITHUB_URL: github.url,
      FAULTLINE_GITHUB_TOKEN: 'ghp_test',
      FAULTLINE_GITHUB_WRITES: 'comment',
    });
  });
  afterAll(async () => {
    await service?.dispose();
    await github?.close();
  });

  it('gets the experiment as evidence on the server, a comment that begins with it, and the change as a suggestion', {
    timeout: 180_000,
  }, async () => {
    const [head, base] = [shop.git('rev-parse', 'HEAD'), shop.git('rev-parse', 'HEAD^')];
    const patch = shop.git('diff', 'HEAD^', '--', 'src/cart.mjs').split('\n').slice(4).join('\n');
    const reviews: z.infer<typeof Review>[] = [];
    github.state.intercept = (request, response) => {
      const route = `${request.method} ${(request.url ?? '').split('?')[0]}`;
      if (route === 'POST /repos/acme/shop/pulls/7/comments') {
        let text = '';
        request.setEncoding('utf8').on('data', (part: string) => (text += part));
        request.on('end', () =>
          sendJson(response, 201, { id: reviews.push(Review.parse(JSON.parse(text))) }),
        );
        return true;
      }
      const answers = new Map<string, unknown>([
        ['GET /repos/acme/shop/pulls/7', { head: { sha: head } }],
        ['GET /repos/acme/shop/pulls/7/comments', []],
        ['GET /repos/acme/shop/pulls/7/files', [{ filename: 'src/cart.mjs', patch }]],
      ]);
      if (answers.has(route)) sendJson(response, 200, answers.get(route));
      return answers.has(route);
    };
    const pull = { number: 7, head: { sha: head, ref: 'main' }, base: { sha: base, ref: 'main' } };
    const event = join(folder, 'pull.json');
    await writeFile(
      event,
      JSON.stringify({
        action: 'opened',
        number: 7,
        pull_request: pull,
        repository: { default_branch: 'main' },
      }),
    );
    const given = ['--var', `FAULTLINE_URL=${service.address}`, '-s', `FAULTLINE_TOKEN=${TOKEN}`];
    const { exitCode, lines } = await act(
      await installOtherNode('22.23.3'),
      'pull_request',
      '-e',
      event,
      ...given,
    );
    expect(exitCode, lines.join('\n')).toBe(1);

    const [build] = z
      .object({ items: z.array(z.object({ id: z.string() })) })
      .parse(await read('/api/builds')).items;
    const { analyses } = Reported.parse(await read(`/api/builds/${build?.id}/analyses`));
    expect(analyses, lines.join('\n')).toMatchObject([
      {
        experiment: {
          verdict: 'this-change',
          bisection: { candidates: [{ commit: head }] },
          fixes: { verdict: 'fixed', suggest: true },
        },
      },
    ]);
    const body = await waitUntil(
      `a comment leads with what was tried. ${service.errors()}`,
      90_000,
      async () =>
        client.comments
          .map((comment) => comment.body)
          .find((text) => text.includes('introduced by this change')) ?? null,
    );
    expect(body.indexOf('Fails 3 of 3 here')).toBeLessThan(
      body.indexOf('“cart adds up” (test/cart.test.mjs'),
    );
    expect(body).toContain('Change that was tried and fixes it');
    await waitUntil(`the change is suggested. ${service.errors()}`, 90_000, async () => reviews.length > 0);
    expect(reviews).toMatchObject([
      {
        path: 'src/cart.mjs',
        line: 1,
        commit_id: head,
        body: expect.stringContaining('```suggestion\nexport const total'),
      },
    ]);
  });

  async function read(path: string): Promise<unknown> {
    return (await fetch(service.address + path, { headers: { authorization: `Bearer ${TOKEN}` } })).json();
  }
});
