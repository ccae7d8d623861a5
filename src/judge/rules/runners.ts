import { type RuleRow, ruleTable } from '../rule.ts';

/** What the build services themselves say: GitHub Actions, GitLab, Jenkins, Azure, CircleCI, Buildkite, Travis, TeamCity. */
export const RUNNER_RULES: readonly RuleRow[] = ruleTable('CONFIG_ERROR', {
  'build-service-failed': {
    category: 'INFRA_ERROR',
    kind: 'runner_lost',
    strength: 4.8,
    patterns: [
      /ERROR: Job failed \(system failure\)/,
      /^(?:##\[error\])?We stopped hearing from agent/,
      /prepare environment: (?:waiting for pod|error dialing|.{0,120}(?:timed out|context deadline))/,
      /Unable to (?:provision|allocate) (?:a |an )?(?:machine|executor|remote [Dd]ocker)/,
      /An error occurred while generating the build script/,
      /The agent (?:was lost|has been lost|did not connect)/,
      /The hosted runner encountered an error/,
      /Gradle build daemon (?:disappeared unexpectedly|has been stopped)/,
    ],
    meets: [
      'ERROR: Job failed (system failure): prepare environment: waiting for pod running: timed out waiting for pod to start',
      '##[error]We stopped hearing from agent pear-4. Verify the agent machine is running',
      'Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)',
    ],
    spares: ['Preparing environment', 'Starting a Gradle Daemon, 1 stopped Daemon could not be reused, use --status for details'],
  },
  'build-service-time-limit': {
    category: 'INFRA_ERROR',
    kind: 'timeout',
    strength: 4.4,
    patterns: [
      /The action '.{1,160}' has timed out after \d/,
      /Too long with no output \(exceeded/,
      /ran longer than the maximum time of \d/,
      /The job exceeded the maximum log length/,
      /[Jj]ob was cancell?ed because it (?:exceeded|ran)/,
    ],
    meets: [
      "##[error]The action 'Weigh the fruit' has timed out after 15 minutes.",
      'Too long with no output (exceeded 10m0s): context deadline exceeded',
    ],
    spares: ['  no_output_timeout: 10m  # too long with no output'],
  },
  'pipeline-definition': {
    kind: 'workflow_config',
    strength: 4.6,
    patterns: [
      /This GitLab CI configuration is invalid/,
      /jobs:[\w:.-]{1,120} (?:config|needs|script|rules) /,
      /The template is not valid\. /,
      /Unexpected symbol: '/,
      /The `(?:set-env|add-path|set-output|save-state)` command is disabled/,
      /No such property: \w{1,80} for class: /,
      /There are no nodes with the label/,
      /Cannot find a definition for (?:job|command|executor|orb) named/,
      /The pipeline is not valid\. /,
      /Could not find \.travis\.yml/,
      /fatal: No agents? (?:match|found)/,
    ],
    meets: [
      'This GitLab CI configuration is invalid: jobs:weigh config contains unknown keys: stages',
      'The template is not valid. .github/workflows/scales.yml (Line: 4, Col: 9): Unexpected value',
      'Error: The `set-env` command is disabled. Please upgrade to using Environment Files',
    ],
    spares: ['Warning: The `set-output` command is deprecated and will be disabled soon.', 'Running on node with the label pear'],
  },
  'pipeline-credentials': {
    kind: 'permission_or_secret',
    strength: 4.8,
    patterns: [
      /Could not find credentials entry with ID/,
      /Scripts not permitted to use /,
      /refusing to allow an? .{1,80} to create or update workflow/,
      /CredentialNotFoundException/,
    ],
    meets: [
      "ERROR: Could not find credentials entry with ID 'pear-deploy'",
      'ERROR: Scripts not permitted to use method java.lang.String weigh',
    ],
    spares: ['using credential pear-deploy'],
  },
  'already-published': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /cannot publish over (?:the )?previously published version/i,
      /File already exists\. See https?:\/\/\S{1,60}help/i,
      /crate version `[^`]{1,60}` is already uploaded/i,
      /Cannot overwrite an? (?:already published|existing) (?:version|artifact|package)/i,
      /a release with the same tag name already exists/i,
    ],
    meets: [
      'npm error You cannot publish over the previously published versions: 1.2.3.',
      'error: failed to publish: crate version `1.2.3` is already uploaded',
    ],
    spares: ['crate version `1.2.3` is already uploaded, skipping'],
  },
});
