import type { Category } from '../domain/category.ts';
import { repositoryPathCandidates } from '../log/paths/repository-path.ts';

/** How the pipeline itself is described: the only code that a CONFIG_ERROR may look into (DESIGN: categories and tools). */
const CI_CONFIGURATION: readonly RegExp[] = [
  /(?:^|\/)\.(?:github|gitlab|circleci|buildkite|semaphore|teamcity|tekton|ci|woodpecker|azure-pipelines)\//,
  /^ci\//,
  /(?:^|\/)action\.ya?ml$/,
  /(?:^|\/)\.(?:gitlab-ci|travis|drone|woodpecker|cirrus|appveyor|bitrise)\.ya?ml$/,
  /(?:^|\/)(?:appveyor|bitrise|bitbucket-pipelines|cloudbuild|buildspec|codefresh)\.ya?ml$/,
  /(?:^|\/)azure-pipelines[\w.-]*\.ya?ml$/,
  /(?:^|\/)Jenkinsfile[\w.-]*$/,
];

/** Manifests and lock files: the only code that a DEPENDENCY_ERROR may look into. */
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

const SCOPES: Partial<Record<Category, { readonly patterns: readonly RegExp[]; readonly called: string }>> = {
  CONFIG_ERROR: { patterns: CI_CONFIGURATION, called: 'CI configuration' },
  DEPENDENCY_ERROR: { patterns: MANIFESTS, called: 'manifests and lock files' },
};

/** Whether a repository path may be read for a failure of this category. */
export function inScope(path: string, category: Category): boolean {
  const scope = SCOPES[category];
  return scope === undefined || scope.patterns.some((pattern) => pattern.test(path));
}

/** Why a path from a log may not be read for this category, or null where one of its readings may be. */
export function scopeRefusal(logged: string, category: Category): string | null {
  const scope = SCOPES[category];
  if (scope === undefined || repositoryPathCandidates(logged).some((path) => inScope(path, category))) return null;
  return `For ${category} only ${scope.called} may be read, and ${logged.slice(0, 200)} is not that.`;
}
