import { type Rule, ruleTable } from '../rule.ts';

/** What the build services themselves say: GitHub Actions, GitLab, Jenkins, Azure, CircleCI, Buildkite, Travis, TeamCity. */
export const RUNNER_RULES: readonly Rule[] = ruleTable({ category: 'CONFIG_ERROR' }, [
  {
    name: 'build-service-failed',
    category: 'INFRA_ERROR',
    kind: 'runner_lost',
    strength: 4.8,
    patterns: [
      /ERROR: Job failed \(system failure\)/,
      /We stopped hearing from agent/,
      /prepare environment: (?:waiting for pod|error dialing|.{0,120}(?:timed out|context deadline))/,
      /Unable to (?:provision|allocate) (?:a |an )?(?:machine|executor|remote [Dd]ocker)/,
      /An error occurred while generating the build script/,
      /The agent (?:was lost|has been lost|did not connect)/,
      /The hosted runner encountered an error/,
      /Gradle build daemon (?:disappeared unexpectedly|has been stopped)/,
    ],
  },
  {
    name: 'build-service-time-limit',
    category: 'INFRA_ERROR',
    kind: 'timeout',
    strength: 4.4,
    patterns: [
      /The action '.{1,160}' has timed out after \d/,
      /Too long with no output \(exceeded/,
      /ran longer than the maximum time of \d/,
      /The job exceeded the maximum log length/,
      /Job was cancell?ed because it (?:exceeded|ran)/,
    ],
  },
  {
    name: 'pipeline-definition',
    kind: 'workflow_config',
    strength: 4.6,
    patterns: [
      /This GitLab CI configuration is invalid/,
      /jobs:[\w:.-]{1,120} (?:config|needs|script|rules) /,
      /The template is not valid\. /,
      /Unexpected symbol: '/,
      /The `(?:set-env|add-path|set-output|save-state)` command is (?:disabled|deprecated)/,
      /No such property: \w{1,80} for class: /,
      /There are no nodes with the label/,
      /Cannot find a definition for (?:job|command|executor|orb) named/,
      /The pipeline is not valid\. /,
      /Could not find \.travis\.yml/,
      /fatal: No agents? (?:match|found)/,
    ],
  },
  {
    name: 'pipeline-credentials',
    kind: 'permission_or_secret',
    strength: 4.8,
    patterns: [
      /Could not find credentials entry with ID/,
      /Scripts not permitted to use /,
      /refusing to allow an? .{1,80} to create or update workflow/,
      /CredentialNotFoundException/,
    ],
  },
  {
    name: 'already-published',
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /cannot publish over (?:the )?previously published version/i,
      /File already exists\. See https?:\/\/\S{1,60}help/i,
      /crate version `[^`]{1,60}` is already uploaded/i,
      /Cannot overwrite an? (?:already published|existing) (?:version|artifact|package)/i,
      /a release with the same tag name already exists/i,
    ],
  },
]);
