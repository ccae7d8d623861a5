import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ToolRow } from '../../scripts/parts/capture/row.ts';
import { readToolRows } from '../../scripts/parts/capture/tools.ts';
import { createTerminalApp, type TerminalApp } from '../../src/app/terminal-app.ts';
import { createPreset, loadConfig } from '../../src/config/load.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { answerWith } from '../support/composition/answer-logs.ts';

/** Kinds of failure that were published and wrong, or read badly, with captures of several tools for each. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'a runtime too old': [
    'node-array-member-missing',
    'node-package-needs-newer',
    'python-standard-name-too-new',
    'javac-method-too-new',
    'node-named-export-missing',
    'zora-node-too-old',
  ],
  'a package that may not be published': [
    'npm-publish-unknown-name',
    'twine-upload-not-found',
    'npm-publish-need-auth',
  ],
  'a dependency that misses a system library': [
    'pip-header-missing',
    'cargo-system-library-missing',
    'configure-library-missing',
    'shared-library-missing',
  ],
  "a test that meets another's service that is away": [
    'node-test-foreign-service-away',
    'unittest-foreign-service-away',
  ],
  'a compiler that was killed': ['cargo-compiler-killed', 'go-build-compiler-killed'],
  'a package archive that is not trusted': ['apt-release-not-signed', 'apt-key-not-known'],
  'a registry that refuses halfway': [
    'npm-refused-halfway',
    'skopeo-refused-halfway',
    'apt-get-refused-halfway',
    'uv-refused-halfway',
  ],
  'what a passing test printed': ['node-test-below-expected-refusal', 'unittest-below-denied-probe'],
  'a build of a package that succeeded at another try': [
    'unittest-below-failed-wheel',
    'pytest-below-failed-wheel',
    'node-test-below-failed-addon',
  ],
  'findings of a check': ['checkstyle-magic-number', 'pmd-empty-catch', 'spotbugs-null-dereference'],
  'a class file that is too new': ['javac-class-file-too-new', 'java-class-file-too-new'],
  'a version that is no longer managed': [
    'maven-version-no-longer-managed',
    'cargo-version-no-longer-managed',
  ],
  'a port in use': ['node-port-in-use', 'python-port-in-use', 'java-port-in-use'],
  'conflict markers': [
    'tsc-conflict-marker',
    'npm-conflict-marker',
    'python-conflict-marker',
    'gcc-conflict-marker',
  ],
  'changes that do not merge': [
    'git-cherry-pick-conflict',
    'git-stash-conflict',
    'git-merge-conflict',
    'patch-hunk-failed',
  ],
  'a brace that is missing': ['terraform-brace-missing', 'nginx-brace-missing'],
  'a certificate that nobody trusts': [
    'curl-certificate-self-signed',
    'git-certificate-self-signed',
    'wget-certificate-not-trusted',
  ],
  'a segmentation fault under a build tool': ['make-segmentation-fault', 'ninja-segmentation-fault'],
  'a variable that is not set': ['bash-unbound-variable', 'dash-parameter-not-set'],
  'a setting that the environment lacks': [
    'python-environment-key',
    'ruby-environment-key',
    'rustc-environment-not-defined',
    'php-environment-missing',
  ],
  'an image or socket that is denied': ['docker-socket-denied', 'skopeo-push-denied'],
  'a time limit': [
    'timeout-ends-silently',
    'node-waits-until-canceled',
    'python-queue-never-empties',
    'make-reads-an-empty-pipe',
  ],
  'a limit on silence': [
    'buildbot-no-output',
    'curl-download-stalls',
    'rsync-input-stalls',
    'pexpect-no-answer',
    'ssh-server-stops-answering',
  ],
  'a byte order mark or a carriage return': [
    'bash-byte-order-mark',
    'bash-carriage-return',
    'env-carriage-return',
    'node-byte-order-mark',
  ],
  "a tool's misleading hint": [
    'npm-publish-unknown-name',
    'javac-class-file-too-new',
    'node-package-needs-newer',
  ],
};

describe('the kinds of failure that were once answered wrongly', () => {
  let app: TerminalApp;
  let rows: readonly ToolRow[];
  beforeAll(async () => {
    app = await createTerminalApp(
      loadConfig(createPreset({}, '/nowhere', join(import.meta.dirname, '../../knowledge')), {}, () => ''),
      silentLogger,
    );
    rows = await readToolRows();
  });

  it.each(Object.entries(KINDS))('are answered correctly, or not published: %s', async (_kind, slugs) => {
    for (const slug of slugs) {
      const row = rows.find((candidate) => candidate.slug === slug);
      const text = readFileSync(join(import.meta.dirname, '../fixtures/tools', slug, 'log.txt'), 'utf8');
      const { answers } = await answerWith(app)([{ name: 'log.txt', kind: 'log', text, notes: [] }]);
      const accepted = row === undefined ? [] : [row.category, ...(row.alsoOk ?? [])];
      const isRight = answers.some(({ category }) => accepted.some((one) => one === category));
      const isPublished = answers.some(({ action }) => action === 'auto_notify');
      expect({ slug, wrong: !isRight && (isPublished || row?.heldOut !== true) }).toEqual({
        slug,
        wrong: false,
      });
    }
  });

  it('have at least two captures each, and one without a rule of its own', () => {
    const kinds = Object.entries(KINDS).map(([kind, slugs]) => {
      const own = rows.filter(({ slug }) => slugs.includes(slug));
      return { kind, isWhole: own.length === slugs.length, isHeldOut: own.some(({ heldOut }) => heldOut) };
    });
    expect(kinds.filter(({ isWhole, isHeldOut }) => !isWhole || !isHeldOut)).toEqual([]);
  });
});
