/**
 * Where CI systems, agents and build tools put a checkout, as their own documents name the folder. Each pattern takes the
 * workspace away, so that the rest is relative to the repository; the more particular ones come first.
 */
const WORKSPACES: readonly RegExp[] = [
  // Bazel: the sandbox, the execution root, and a test's runfiles; what it generates lies in the same packages.
  /^(?:\/[^/]{1,120}){1,12}\/execroot\/[^/]{1,120}\/(?:bazel-out\/[^/]{1,120}\/(?:bin|genfiles|testlogs)\/)?/,
  /^\/?(?:[^/]{1,120}\/){0,14}[^/]{1,120}\.runfiles\/[^/]{1,120}\//,
  /^(?:bazel-out\/[^/]{1,120}\/(?:bin|genfiles|testlogs)|bazel-(?:bin|genfiles|testlogs))\//,
  // GitHub: hosted runners, job containers, Windows, actions in containers, and a runner of one's own.
  /^\/(?:home|Users)\/runner\/work\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^\/__w\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^[A-Za-z]:\/a\/(?!_work\/|\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  /^\/github\/workspace\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}(?:actions-runner|runner|actions)\/_work\/(?!\d{1,4}\/[sabd]\/)[^/]{1,120}\/[^/]{1,120}\//,
  // Azure: hosted agents on Linux, macOS and Windows, containers, and agents of one's own.
  /^\/(?:home\/vsts|Users\/runner|home\/runner)\/work\/\d{1,4}\/[sabd]\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}(?:__w|_work|a)\/\d{1,4}\/[sabd]\//,
  // GitLab: the Docker executor, the shell executor with its token and slot, Firefox's workers.
  /^\/builds\/worker\/(?:checkouts|workspace)\/[^/]{1,120}\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}builds\/[\w-]{6,20}\/\d{1,3}\/[^/]{1,120}\/[^/]{1,120}\//i,
  /^\/builds\/[^/]{1,120}\/[^/]{1,120}\//,
  // Jenkins, with the `@2` of a second executor and the `@script` of a pipeline.
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,6}workspace\/[^/]{1,120}@(?:\d{1,4}|script|tmp)\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,6}(?:jenkins|jenkins_home|\.jenkins|agent|jenkins-agent|slave)\/workspace\/[^/]{1,120}\//i,
  // CircleCI, Bitbucket, Travis, Buildkite, Drone, Woodpecker, Semaphore, Cirrus, AppVeyor, Bitrise.
  /^\/(?:home\/circleci|root)\/(?:project|repo)\//,
  /^\/opt\/atlassian\/pipelines\/agent\/build\//,
  /^(?:\/(?:home|Users)\/travis|[A-Za-z]:\/Users\/travis)\/build\/[^/]{1,120}\/[^/]{1,120}\//,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}buildkite(?:-agent)?\/builds\/[^/]{1,120}\/[^/]{1,120}\/[^/]{1,120}\//,
  /^\/drone\/src\//,
  /^\/woodpecker\/src\/[^/]{1,120}\/[^/]{1,120}\/[^/]{1,120}\//,
  /^\/home\/semaphore\/[^/]{1,120}\//,
  /^(?:\/tmp|[A-Za-z]:\/Users\/[^/]{1,60}\/AppData\/Local\/Temp|\/private\/tmp)\/cirrus-ci-build\//,
  /^[A-Za-z]:\/projects\/[^/]{1,120}\//,
  /^\/(?:Users\/vagrant\/git|bitrise\/src)\//,
  // CodeBuild, TeamCity, Bamboo, GoCD, Concourse, Heroku.
  /^\/codebuild\/output\/[^/]{1,120}\/src\/(?:[\w.-]{1,80}\.(?:com|org|net)\/[^/]{1,120}\/[^/]{1,120}\/|s3\/\d{1,3}\/)?/,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}build-?agent\/work\/[0-9a-f]{8,40}\//i,
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,5}xml-data\/build-dir\/[^/]{1,120}\//,
  /^\/(?:var\/lib\/go-agent|godata|go)\/pipelines\/[^/]{1,120}\//,
  /^\/tmp\/build\/[0-9a-f]{6,40}\/[^/]{1,120}\//,
  /^\/tmp\/build_[0-9a-f]{6,40}\//,
  // A GOPATH, a dev container, a folder that images mount and nobody calls a package.
  /^(?:[A-Za-z]:)?\/(?:[^/]{1,120}\/){0,4}go\/src\/[\w.-]{1,80}\.[a-z]{2,6}\/[^/]{1,120}\/[^/]{1,120}\//,
  /^\/workspaces\/[^/]{1,120}\//,
  /^\/usr\/src\/(?:app|project|code|build)\//,
  /^\/var\/www\/html\//,
  /^\/home\/node\/app\//,
];

/** A path with `/` between its segments, without the folder that a CI system checks out into; as it was where none is known. */
export function withoutWorkspace(path: string): string {
  for (const workspace of WORKSPACES) {
    const rest = path.replace(workspace, '');
    if (rest !== path && rest !== '') return rest;
  }
  return path;
}
