import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { layOutAction } from '../action/runner.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { realCiProgram } from '../support/gitea-server.ts';
import { otherNode } from '../support/other-node.ts';

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
  shop.commit({ 'src/cart.mjs': total, 'test/cart.test.mjs': TEST, '.github/workflows/ci.yml': WORKFLOW }, 'Start the shop');
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
async function act(node: string, ...args: string[]): Promise<{ readonly exitCode: number; readonly lines: readonly string[] }> {
  const program = realCiProgram('act');
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') };
  const local = `acme/faultline@v1=${join(folder, 'faultline')}`;
  const given = ['push', '--json', '--no-cache-server', '-P', 'ubuntu-latest=-self-hosted', '--local-repository', local, ...args];
  return new Promise((resolve) => {
    execFile(program, given, { cwd: shop.folder, env, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => {
      const lines = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? Line.parse(JSON.parse(line)).msg.trimEnd() : []));
      resolve({ exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, lines });
    });
  });
}

describe.each(['20.20.2', '22.23.3'])('our Action under act with Node %s', (version) => {
  it('explains the failure in the job, and leaves its result as it was', async () => {
    const { exitCode, lines } = await act(await otherNode(version));
    const said = lines.join('\n');

    expect(exitCode, said).toBe(1);
    expect(said).toContain('Success - Main acme/faultline/action@v1');
    expect(said).toMatch(new RegExp(`^outputs TEST_FAILURE 0\\.9\\d this-change ${shop.git('rev-parse', 'HEAD')}$`, 'm'));
    expect(said).toMatch(/^\+export const total = .* 0\);$/m);
    expect(said).toMatch(/^outputs \[\{"category":"TEST_FAILURE".*"path":"src\/cart\.mjs","line":1,/m);
    expect(said).toMatch(/::error file=src\/cart\.mjs,line=1,title=cart adds up/);
    expect(said).toMatch(
      /Summary - ### Faultline: 1 cause\s+\*\*Fails 3 of 3 here, 0 of 3 on the base \(\w{9}\): introduced by this change/,
    );
    expect(said).toMatch(/Summary - ### Faultline: 1 cause[\s\S]+\d {2} +AssertionError/);
    const shown = lines.filter((line) => line.includes('set-output')).length;
    console.info(`act with Node ${version}: 1 failed job, 1 answer, ${shown} outputs, 1 annotation, 1 summary`);
  });
});
