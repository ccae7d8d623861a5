import type { Finding } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { firstOfEach } from '../lib/collections.ts';

const MAX_NAMED = 3;

type Documentation = readonly [name: RegExp, tool: string, url: string];

/** The official documentation of tools, by the names under which the reader knows them. */
const DOCUMENTATION: readonly Documentation[] = [
  [/^npm$/, 'npm', 'https://docs.npmjs.com/cli'],
  [/^yarn$/, 'Yarn', 'https://yarnpkg.com/getting-started'],
  [/^pnpm$/, 'pnpm', 'https://pnpm.io/motivation'],
  [/^jest$/, 'Jest', 'https://jestjs.io/docs/getting-started'],
  [/^vitest$/, 'Vitest', 'https://vitest.dev/guide/'],
  [/^mocha$/, 'Mocha', 'https://mochajs.org/'],
  [/^(?:tsc|typescript)$/, 'TypeScript', 'https://www.typescriptlang.org/docs/'],
  [/^eslint$/, 'ESLint', 'https://eslint.org/docs/latest/'],
  [/^(?:node|javascript)$/, 'Node.js', 'https://nodejs.org/docs/latest/api/'],
  [/^(?:maven|surefire)$/, 'Maven', 'https://maven.apache.org/guides/'],
  [/^junit$/, 'JUnit', 'https://docs.junit.org/'],
  [/^gradle$/, 'Gradle', 'https://docs.gradle.org/current/userguide/userguide.html'],
  [/^(?:javac?|jvm)$/, 'Java', 'https://docs.oracle.com/en/java/javase/'],
  [/^cargo$/, 'Cargo', 'https://doc.rust-lang.org/cargo/'],
  [/^(?:rustc?)$/, 'Rust', 'https://doc.rust-lang.org/'],
  [/^go\b/, 'Go', 'https://go.dev/doc/'],
  [/^(?:bundler|gem)$/, 'Bundler', 'https://bundler.io/docs.html'],
  [/^rspec$/, 'RSpec', 'https://rspec.info/documentation/'],
  [/^composer$/, 'Composer', 'https://getcomposer.org/doc/'],
  [/^poetry$/, 'Poetry', 'https://python-poetry.org/docs/'],
  [/^uv$/, 'uv', 'https://docs.astral.sh/uv/'],
  [/^pip$/, 'pip', 'https://pip.pypa.io/en/stable/'],
  [/^pytest$/, 'pytest', 'https://docs.pytest.org/'],
  [/^(?:python|unittest)$/, 'Python', 'https://docs.python.org/3/'],
  [/^tox$/, 'tox', 'https://tox.wiki/'],
  [/^docker/, 'Docker', 'https://docs.docker.com/'],
  [/^(?:dotnet|msbuild|nuget)$/, '.NET', 'https://learn.microsoft.com/dotnet/'],
  [/^(?:dart|flutter|pub)$/, 'Dart and Flutter', 'https://docs.flutter.dev/'],
  [/^(?:swift|swiftpm|xcodebuild)$/, 'Swift', 'https://www.swift.org/documentation/'],
  [/^make$/, 'GNU make', 'https://www.gnu.org/software/make/manual/'],
  [/^cmake$/, 'CMake', 'https://cmake.org/documentation/'],
  [/^terraform$/, 'Terraform', 'https://developer.hashicorp.com/terraform/docs'],
];

/**
 * Names the official documentation of the tools in a failed step, for a reader whom no search could help.
 * Nothing is asked and no page is read, and each finding says so.
 */
export function nameDocumentation({ toolchains }: Pick<TriageSubject, 'toolchains'>): Finding[] {
  const named = toolchains.flatMap((name): Documentation[] => {
    const found = DOCUMENTATION.find(([pattern]) => pattern.test(name.toLowerCase()));
    return found === undefined ? [] : [found];
  });
  return firstOfEach(named, ([, tool]) => tool)
    .slice(0, MAX_NAMED)
    .map(([, tool, url]) => ({
      title: `Documentation of ${tool}, named because the web could not be searched`,
      text: `The documentation of ${tool} is at ${url}. It was neither searched nor read.`,
      source: 'documentation',
      url,
      data: { named: tool },
    }));
}
