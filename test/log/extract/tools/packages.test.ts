import { describe, expect, it } from 'vitest';
import { readLines } from './read-lines.ts';

type Row = readonly [tool: string, lines: readonly string[], known: object];

const ROWS: readonly Row[] = [
  [
    'npm',
    ['npm ERR! code ERESOLVE', 'npm ERR! ERESOLVE unable to resolve dependency tree'],
    { code: 'ERESOLVE', message: 'unable to resolve dependency tree' },
  ],
  ['yarn', ['error Couldn\'t find package "leftpad" on the "npm" registry.'], {}],
  [
    'yarn',
    ['➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.'],
    { code: 'YN0028' },
  ],
  [
    'pnpm',
    [
      ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile" because pnpm-lock.yaml is not up to date with package.json',
    ],
    { code: 'ERR_PNPM_OUTDATED_LOCKFILE' },
  ],
  [
    'pip',
    ['ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.'],
    {},
  ],
  ['setuptools', ["error: command 'gcc' failed: No such file or directory"], {}],
  [
    'poetry',
    ["Because cart depends on leftpad (^9.0) which doesn't match any versions, version solving failed."],
    {},
  ],
  [
    'uv',
    [
      '  × No solution found when resolving dependencies:',
      '  ╰─▶ Because there is no version of leftpad==9 and you require leftpad==9, we can conclude that',
    ],
    { message: 'Because there is no version of leftpad==9 and you require leftpad==9, we can conclude that' },
  ],
  [
    'conda',
    [
      'PackagesNotFoundError: The following packages are not available from current channels:',
      '',
      '  - leftpad=9',
      '',
    ],
    { code: 'PackagesNotFoundError', message: 'leftpad=9' },
  ],
  [
    'mvn',
    [
      '[ERROR] Failed to execute goal on project cart: Could not resolve dependencies for project org.x:cart:jar:1: Could not find artifact org.y:pad:jar:9',
    ],
    { message: expect.stringContaining('Could not resolve dependencies') },
  ],
  [
    'mvn',
    [
      '[ERROR] Rule 0: org.apache.maven.enforcer.rules.version.RequireJavaVersion failed with message:',
      'Detected JDK version 11 is not in the allowed range [17,).',
    ],
    { message: 'Detected JDK version 11 is not in the allowed range [17,).' },
  ],
  ['mvn', ['[ERROR] Unknown lifecycle phase "packge". You must specify a valid lifecycle phase'], {}],
  [
    'sbt',
    [
      '[error] sbt.librarymanagement.ResolveException: Error downloading org.y:pad:9',
      '[error]   not found: https://maven.example.test/pad-9.pom',
    ],
    {},
  ],
  [
    'gradle',
    [
      "> Could not resolve all files for configuration ':compileClasspath'.",
      '   > Could not find org.y:pad:9.',
      '     Searched in the following locations:',
    ],
    { message: 'Could not find org.y:pad:9.' },
  ],
  [
    'bundler',
    [
      "Could not find gem 'pad (= 9)' in rubygems repository https://gems.example.test/ or installed locally.",
    ],
    {},
  ],
  ['bundler', ['An error occurred while installing nokogiri (1.10.0), and Bundler cannot continue.'], {}],
  [
    'composer',
    [
      'Your requirements could not be resolved to an installable set of packages.',
      '',
      '  Problem 1',
      '    - Root composer.json requires y/pad ^9.0, found y/pad[1.0] but it does not match the constraint.',
    ],
    {
      message:
        'Root composer.json requires y/pad ^9.0, found y/pad[1.0] but it does not match the constraint.',
    },
  ],
  [
    'cocoapods',
    ['[!] CocoaPods could not find compatible versions for pod "Pad":', '  In Podfile:', '    Pad (= 9)'],
    {},
  ],
  [
    'cabal',
    [
      'Error: cabal: Could not resolve dependencies:',
      '[__0] trying: cart-1 (user goal)',
      '[__1] unknown package: pad',
    ],
    {},
  ],
  ['rebar3', ['===> Package not found in any repo: pad 9.0'], {}],
  ['mix', ['** (Mix) Could not start application cart'], {}],
  ['cpanm', ["! Couldn't find module or a distribution Text::Pad"], {}],
  ['julia', ['ERROR: Unsatisfiable requirements detected for package Pad [1a2b]:', ' Pad [1a2b] log:'], {}],
  ['apt', ['E: Unable to locate package leftpad'], { message: 'Unable to locate package leftpad' }],
  ['dnf', ['Error: Unable to find a match: leftpad'], {}],
  [
    'apk',
    ['ERROR: unable to select packages:', '  leftpad (no such package):', '    required by: world[leftpad]'],
    { message: 'leftpad (no such package):' },
  ],
  ['brew', ['Error: No available formula with the name "leftpad".'], {}],
]; // prettier-ignore

describe('package managers', () => {
  it.each(ROWS)('are read: %s: %j', (tool, lines, known) => {
    const errors = readLines('installing', ...lines).diagnostics.filter(
      ({ severity }) => severity === 'error',
    );
    expect(errors[0]).toMatchObject({ tool, ...known });
  });

  it.each([
    'npm warn retry attempt 1 failed with ECONNRESET',
    'WARNING: Retrying (Retry(total=4)) after connection broken by ConnectTimeoutError: Connection timed out',
    'Warning: Problem: timeout. Will retry in 1 seconds. Connection refused',
    'Ign:3 http://archive.example.test stable InRelease Connection timed out',
  ])('give a low weight to what was retried: %s', (line) => {
    const { messages } = readLines(
      line,
      'E: Could not get lock /var/lib/dpkg/lock-frontend',
      './run.sh: line 7: protoc: command not found',
    );
    expect(messages[0]?.text).not.toBe(line);
    expect(messages.find(({ text }) => text === line)?.weight ?? 0).toBeLessThan(40);
  });

  it('have a line for each problem of Composer', () => {
    const { excerpts } = readLines(
      'Your requirements could not be resolved to an installable set of packages.',
      '',
      '  Problem 1',
      `    - a/a 1.0 requires b/b ${'or b/b '.repeat(300)}`,
    );
    expect(excerpts.some(({ lineEnd }) => lineEnd >= 4)).toBe(true);
  });
});

describe('words that several tools print', () => {
  const nameTools = (lines: readonly string[]) => readLines(...lines).diagnostics.map(({ tool }) => tool);

  it.each([
    ['Vite', ['error during build:', 'Error: Failed to resolve import "./cart" from "src/app.ts".']],
    ['.NET', ["error: Failed to download package 'Pad.9.0.0' from 'https://packages.example/pad.nupkg'."]],
    ['shx', ['> shx chmod', 'Error: Missing <mode> argument of chmod, which needs two of them']],
  ])('of %s are not attributed to uv or terraform', (_tool, lines) => {
    expect(nameTools(lines)).not.toContain('uv');
    expect(nameTools(lines)).not.toContain('terraform');
  });

  it.each([
    ['uv', ['$ uv sync --locked', 'error: Failed to fetch: `https://packages.example/simple/pad/`']],
    ['terraform', ['$ terraform plan', 'Error: Missing required argument for the network module']],
  ])('are attributed to %s if it ran', (tool, lines) => {
    expect(nameTools(lines)).toContain(tool);
  });
});
