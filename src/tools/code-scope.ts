import type { Category } from '../domain/category.ts';

/** How the pipeline itself is described: what changed there is looked at for a CONFIG_ERROR. */
const CI_CONFIGURATION: readonly RegExp[] = [
  /(?:^|\/)\.(?:github|gitlab|circleci|buildkite|semaphore|teamcity|tekton|ci|woodpecker|azure-pipelines)\//,
  /^ci\//,
  /(?:^|\/)action\.ya?ml$/,
  /(?:^|\/)\.(?:gitlab-ci|travis|drone|woodpecker|cirrus|appveyor|bitrise)\.ya?ml$/,
  /(?:^|\/)(?:appveyor|bitrise|bitbucket-pipelines|cloudbuild|buildspec|codefresh)\.ya?ml$/,
  /(?:^|\/)azure-pipelines[\w.-]*\.ya?ml$/,
  /(?:^|\/)Jenkinsfile[\w.-]*$/,
];

/** Manifests and lock files: what changed there is looked at for a DEPENDENCY_ERROR. */
const MANIFESTS: readonly RegExp[] = [
  /(?:^|\/)(?:package|package-lock|npm-shrinkwrap|deno|composer|vcpkg|packages\.lock)\.json$/,
  /(?:^|\/)(?:yarn|bun|deno|composer|poetry|uv|pdm|pixi|Cargo|mix|pubspec|rebar|flake|conan|gems)\.lock$/,
  /(?:^|\/)(?:pnpm-lock|pnpm-workspace|pubspec|environment|stack)\.ya?ml$/,
  /(?:^|\/)(?:requirements|constraints)[\w.-]*\.(?:txt|in)$/,
  /(?:^|\/)requirements\/[\w.-]+\.(?:txt|in)$/,
  /(?:^|\/)(?:pyproject|Cargo|Pipfile|libs\.versions)\.toml$/,
  /(?:^|\/)(?:setup\.py|setup\.cfg|Pipfile|Pipfile\.lock|Gemfile|Gemfile\.lock|Podfile|Podfile\.lock|gradle\.lockfile)$/,
  /(?:^|\/)(?:pom\.xml|build\.sbt|project\.clj|mix\.exs|rebar\.config|MODULE\.bazel|Package\.swift|Package\.resolved)$/,
  /(?:^|\/)(?:build|settings)\.gradle(?:\.kts)?$/,
  /(?:^|\/)gradle-wrapper\.properties$/,
  /(?:^|\/)go\.(?:mod|sum|work|work\.sum)$/,
  /(?:^|\/)conanfile\.(?:txt|py)$/,
  /(?:^|\/)Directory\.Packages\.props$/,
  /(?:^|\/)[\w.-]+\.(?:csproj|fsproj|vbproj|gemspec|cabal|podspec)$/,
];

const SCOPES: Partial<Record<Category, readonly RegExp[]>> = {
  CONFIG_ERROR: CI_CONFIGURATION,
  DEPENDENCY_ERROR: MANIFESTS,
};

/** Whether a change of this path may have to do with a failure of this category. */
export function inScope(path: string, category: Category): boolean {
  const scope = SCOPES[category];
  return scope === undefined || scope.some((pattern) => pattern.test(path));
}
