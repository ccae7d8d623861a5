/** A cause that, once told in words, explains complaints which would otherwise speak for another category. */
export interface Explanation {
  readonly cause: string;
  readonly explains: readonly string[];
}

const GENERIC_COMPILE = ['compiler-diagnostic', 'generic-compile-step', 'go-build-failed'];
const MISSING_THINGS = ['path-missing', 'build-program-missing', 'script-path-missing', 'command-not-found', 'file-permission'];
const RESOLVERS = [
  'npm-eresolve',
  'npm-version-missing',
  'lockfile-out-of-step',
  'pip-no-matching-distribution',
  'pip-conflict',
  'maven-unresolvable',
  'maven-enforcer',
  'cargo-cannot-select',
  'cargo-conflict',
  'go-module-missing',
  'nuget-missing',
];

/** "A full disk explains that a download failed", and the like: the cause nearer to the failure wins. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    cause: 'disk-full',
    explains: [
      ...MISSING_THINGS,
      ...GENERIC_COMPILE,
      'maven-unresolvable',
      'package-build-failed',
      'download-failed',
      'undefined-reference',
    ],
  },
  { cause: 'out-of-memory', explains: [...GENERIC_COMPILE, 'package-build-failed', 'exit-by-signal', 'segmentation-fault'] },
  { cause: 'killed-137', explains: [...GENERIC_COMPILE, 'package-build-failed', 'exit-by-signal'] },
  { cause: 'agent-cannot-spawn', explains: MISSING_THINGS },
  { cause: 'runner-lost', explains: MISSING_THINGS },
  { cause: 'rate-limited', explains: ['credentials-refused', 'file-permission'] },
  { cause: 'class-file-version', explains: [...GENERIC_COMPILE, 'java-compilation-error', 'javac-cannot-find-symbol', 'path-missing'] },
  { cause: 'wrong-runtime-version', explains: [...GENERIC_COMPILE, 'java-compilation-error', 'linkage-error', 'unknown-option'] },
  { cause: 'project-file-missing', explains: GENERIC_COMPILE },
  { cause: 'compiler-options', explains: [...GENERIC_COMPILE, 'tsc-diagnostic', 'path-missing'] },
  { cause: 'manifest-malformed', explains: [...GENERIC_COMPILE, 'script-syntax-error'] },
  { cause: 'workflow-file', explains: ['path-missing', 'script-syntax-error', 'unknown-option'] },
  { cause: 'build-program-missing', explains: ['command-not-found', 'path-missing', 'exit-by-signal'] },
  { cause: 'header-missing', explains: [...GENERIC_COMPILE, 'c-compile-error', 'path-missing'] },
  { cause: 'assertion-of-failing-test', explains: ['compiler-diagnostic'] },
  { cause: 'python-syntax-error', explains: ['package-build-failed', 'tap-not-ok', 'test-summary-counts-failures'] },
  { cause: 'sanitizer-report', explains: ['test-named-as-failed', 'go-test-failed'] },
  { cause: 'data-race', explains: ['test-named-as-failed', 'go-test-failed', 'test-summary-counts-failures'] },
  ...RESOLVERS.map((cause) => ({ cause, explains: [...GENERIC_COMPILE, 'path-missing'] })),
];

/** Evidence (logits) a cause needs before it explains others away. */
export const EXPLAINS_FROM = 3;
