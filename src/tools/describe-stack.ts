import { z } from 'zod';
import type { Finding } from '../domain/evidence.ts';
import { formatCount } from '../lib/text.ts';
import type { CodeHost } from '../ports/code-host.ts';
import { defineCodeTool, findBuiltCode } from './repository.ts';
import type { Tool } from './tool.ts';

/** The maximum numbers of files that are listed, of manifests that are shown, and of lines of each. */
const MAX_LISTED = 100_000;
const MAX_MANIFESTS = 4;
const MAX_MANIFEST_LINES = 60;

/** The paths of manifests that are named but not shown. */
const NOT_SHOWN = /(?:^|\/)(?:Dockerfile|Makefile)$|^\.github\/workflows\//;

/** The languages, each with the pattern of its file names. */
const LANGUAGES: readonly (readonly [string, RegExp])[] = [
  ['JavaScript', /\.[cm]?jsx?$/],
  ['TypeScript', /\.[cm]?tsx?$/],
  ['Python', /\.pyi?$/],
  ['Go', /\.go$/],
  ['Rust', /\.rs$/],
  ['Java', /\.java$/],
  ['Kotlin', /\.kts?$/],
  ['Scala', /\.scala$/],
  ['C#', /\.cs$/],
  ['C', /\.[ch]$/],
  ['C++', /\.(?:cc|cpp|cxx|hh|hpp)$/],
  ['Ruby', /\.rb$/],
  ['PHP', /\.php$/],
  ['Swift', /\.swift$/],
  ['Dart', /\.dart$/],
  ['Elixir', /\.exs?$/],
  ['Shell', /\.(?:ba)?sh$/],
];

/** The files that define how a project is built, by build tool. */
const MANIFESTS: readonly (readonly [string, RegExp])[] = [
  ['npm', /(?:^|\/)package\.json$/],
  ['Python packaging', /(?:^|\/)(?:pyproject\.toml|setup\.py|setup\.cfg|requirements\.txt|Pipfile)$/],
  ['Cargo', /(?:^|\/)Cargo\.toml$/],
  ['Go modules', /(?:^|\/)go\.mod$/],
  ['Maven', /(?:^|\/)pom\.xml$/],
  ['Gradle', /(?:^|\/)build\.gradle(?:\.kts)?$/],
  ['Bundler', /(?:^|\/)Gemfile$/],
  ['Composer', /(?:^|\/)composer\.json$/],
  ['.NET', /\.(?:csproj|sln)$/],
  ['CMake', /(?:^|\/)CMakeLists\.txt$/],
  ['Make', /(?:^|\/)Makefile$/],
  ['Docker', /(?:^|\/)(?:Dockerfile|docker-compose\.ya?ml)$/],
  ['GitHub Actions', /^\.github\/workflows\//],
  ['GitLab CI', /^\.gitlab-ci\.yml$/],
  ['Jenkins', /(?:^|\/)Jenkinsfile$/],
];

/**
 * Creates the tool that names the languages and build tools of a repository and shows the beginnings of up to
 * four manifests.
 */
export function describeStack(codeHost: CodeHost): Tool {
  return defineCodeTool(codeHost, {
    name: 'describe_stack',
    question: 'Which languages, build tools and dependencies does the repository use?',
    serves: { CODE_ERROR: null },
    investigator: 'documents',
    asks: 'code host',
    costClass: 'low',
    usualLatencyMs: 400,
    parameters: z.strictObject({}),
    keptBy: 'arguments',
    async run(_args, context): Promise<Finding[]> {
      const code = await findBuiltCode(codeHost, context);
      const { paths } = await codeHost.listFiles({ ...code.at, limit: MAX_LISTED }, code.signal);
      if (paths.length === 0) return [];
      const languages = LANGUAGES.map(([name, ending]) => ({
        name,
        files: paths.filter((path) => ending.test(path)).length,
      }))
        .filter(({ files }) => files > 0)
        .sort((left, right) => right.files - left.files);
      const manifests = MANIFESTS.flatMap(([tool, name]) => {
        const [first] = paths
          .filter((path) => name.test(path))
          .sort((left, right) => measureDepth(left) - measureDepth(right));
        return first === undefined ? [] : [{ tool, path: first }];
      });
      const summary: Finding = {
        title: code.titled(`${formatCount(paths.length, 'file')}: languages and build tools`),
        text: [
          ...languages.map(({ name, files }) => `${name}: ${formatCount(files, 'file')}`),
          ...manifests.map(({ tool, path }) => `${tool}: ${path}`),
        ].join('\n'),
        source: 'repository',
        data: { languages, manifests },
      };
      const read = await Promise.all(
        manifests
          .filter(({ path }) => !NOT_SHOWN.test(path))
          .slice(0, MAX_MANIFESTS)
          .map(({ path }) =>
            codeHost.readFile({ ...code.at, path, lineStart: 1, lineEnd: MAX_MANIFEST_LINES }, code.signal),
          ),
      );
      return [
        summary,
        ...read.flatMap((file) =>
          file === null
            ? []
            : [
                {
                  title: code.titled(file.path),
                  text: file.lines.join('\n'),
                  source: file.path,
                  lineStart: 1,
                  lineEnd: Math.max(1, file.lines.length),
                },
              ],
        ),
      ];
    },
  });
}

function measureDepth(path: string): number {
  return path.split('/').length;
}
