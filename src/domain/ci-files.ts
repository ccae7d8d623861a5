/** The paths of files that configure a pipeline. Their changes are inspected for a CONFIG_ERROR. */
export const CI_FILES: readonly RegExp[] = [
  /(?:^|\/)\.(?:github|gitlab|circleci|buildkite|semaphore|teamcity|tekton|ci|woodpecker|azure-pipelines)\//,
  /^ci\//,
  /(?:^|\/)action\.ya?ml$/,
  /(?:^|\/)\.(?:gitlab-ci|travis|drone|woodpecker|cirrus|appveyor|bitrise)\.ya?ml$/,
  /(?:^|\/)(?:appveyor|bitrise|bitbucket-pipelines|cloudbuild|buildspec|codefresh)\.ya?ml$/,
  /(?:^|\/)azure-pipelines[\w.-]*\.ya?ml$/,
  /(?:^|\/)Jenkinsfile[\w.-]*$/,
];

/** The names of files that configure CI services, as they occur in logs. */
export const NAMED_CI_FILE = new RegExp(
  String.raw`\.github/workflows/[\w.-]{1,80}\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|` +
    String.raw`\.travis\.yml|azure-pipelines\.yml`,
);

/**
 * The paths of files that decide what CI runs. A proposed change to one of them is neither tried nor shown.
 */
export const GUARDED_CI_FILES = new RegExp(
  String.raw`(?:^|/)(?:\.(?:github|gitea|forgejo|gitlab|circleci|buildkite|azure-pipelines|woodpecker|` +
    String.raw`husky|git-hooks|githooks)/|(?:\.gitlab-ci|\.travis|\.drone|\.woodpecker|\.appveyor|` +
    String.raw`appveyor|azure-pipelines|bitbucket-pipelines|\.pre-commit-config|lefthook)[^/]*\.ya?ml$|` +
    String.raw`Jenkinsfile[^/]*$|CODEOWNERS$|\.gitattributes$)`,
  'i',
);
