import { defineRules, type RuleRow } from '../rule.ts';

/**
 * Rules for messages of the CI systems themselves: GitHub Actions, GitLab, Jenkins, Azure, CircleCI,
 * Buildkite, Travis and TeamCity.
 */
export const RUNNER_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
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
    fix: [
      [
        'rerun',
        'Run the job again. The build service failed (“{message}”), and your project is not involved.',
      ],
    ],
    matches: [
      'ERROR: Job failed (system failure): prepare environment: waiting for pod running: timed out ' +
        'waiting for pod to start',
      '##[error]We stopped hearing from agent pear-4. Verify the agent machine is running',
      'Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)',
    ],
    ignores: [
      'Preparing environment',
      'Starting a Gradle Daemon, 1 stopped Daemon could not be reused, use --status for details',
    ],
  },
  'build-service-time-limit': {
    category: 'INFRA_ERROR',
    kind: 'timeout',
    strength: 4.4,
    patterns: [
      /The action '.{1,160}' has timed out after \d/,
      /Too long with no output \(exceeded/,
      /\b(?:timed out|killed|stopped|aborted)\b.{0,60}\b(?:without|no) (?:any )?(?:new )?output\b/,
      /ran longer than the maximum time of \d/,
      /The job exceeded the maximum log length/,
      /[Jj]ob was cancell?ed because it (?:exceeded|ran)/,
    ],
    reads: [
      /(?<silent>\d[\d.]{0,6} (?:minutes?|seconds?|hours?)) (?:without|with no) (?:any )?(?:new )?output/,
      /The action '(?<action>[^'\n]{1,120})/,
      /(?:after|exceeded|time of) (?<limit>\d[\d.]{0,6} ?(?:minutes?|seconds?|hours?|[hms](?:\d{1,3}[ms]?){0,2}))/,
    ],
    title: ['The run was ended after {silent} without output', 'The job exceeded its time limit of {limit}'],
    cause: [
      '`{command}` printed nothing for {silent}, and a limit on missing output ended it.',
      '`{command}` was still running when the time limit of {limit} expired.',
      'The job was stopped because it exceeded its time limit of {limit}.',
    ],
    fix: [
      [
        'configuration',
        '{silent?}Find out what `{command}` is waiting for, let it print progress, or raise the limit.',
      ],
      ['configuration', 'Find out what “{action}” is waiting for, or raise the limit of {limit}.'],
      ['configuration', 'Find out what `{command}` is waiting for, or raise the limit of {limit}.'],
    ],
    matches: [
      "##[error]The action 'Weigh the fruit' has timed out after 15 minutes.",
      'Too long with no output (exceeded 10m0s): context deadline exceeded',
      'command timed out: 1200 seconds without output, attempting to kill',
    ],
    ignores: ['  no_output_timeout: 10m  # too long with no output', 'pear exited without output'],
    says: [
      {
        log: "##[error]The action 'Weigh the fruit' has timed out after 15 minutes.",
        fix: 'Find out what “Weigh the fruit” is waiting for, or raise the limit of 15 minutes.',
      },
    ],
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
    reads: [
      /CI configuration is invalid: (?<why>[^\n]{3,160})/,
      /(?<why>jobs:[\w:.-]{1,120} (?:config|needs|script|rules) [^\n]{3,120})/,
      /The `(?<disabled>set-env|add-path|set-output|save-state)` command is disabled/,
      /No such property: (?<property>\w{1,80}) for class: /,
      /no nodes with the label ['‘"](?<label>[^'’"\n]{1,80})/,
      /Cannot find a definition for (?<undefined>(?:job|command|executor|orb) named [\w/.-]{1,80})/,
      /(?<workflow>\.github\/workflows\/[\w.-]{1,80}\.ya?ml) \(Line: (?<row>\d{1,6})/,
    ],
    title: [
      'The workflow command `{disabled}` is disabled',
      'The pipeline uses {property}, which is not defined',
      'No agent has the label “{label}”',
      'The configuration does not define the {undefined}',
      '{workflow} is invalid at line {row}',
      '{why?}The pipeline configuration is invalid',
    ],
    cause: [
      'A step uses the workflow command `{disabled}`, which GitHub has disabled.',
      'The pipeline script uses {property}, which is not defined there.',
      'The pipeline requests an agent with the label “{label}”, but there is none.',
      'The configuration refers to the {undefined}, which it does not define.',
      'The CI system rejects the configuration: “{why}”.',
      'GitHub rejects {workflow} at line {row}: “{message}”.',
    ],
    fix: [
      [
        'configuration',
        'Write to the environment files (`GITHUB_ENV`, `GITHUB_PATH`, `GITHUB_OUTPUT`, `GITHUB_STATE`) ' +
          'instead of using `{disabled}`.',
      ],
      [
        'configuration',
        'Define `{property}` in the pipeline script, or put it in quotes if it is meant as text.',
      ],
      ['ask', 'Connect an agent with the label “{label}”, or correct the label in the pipeline.'],
      ['configuration', 'Define the {undefined}, or correct its name.'],
      ['configuration', 'Fix the configuration: “{why}”.'],
      ['configuration', 'Fix line {row} of {workflow}.'],
    ],
    matches: [
      'This GitLab CI configuration is invalid: jobs:weigh config contains unknown keys: stages',
      'The template is not valid. .github/workflows/scales.yml (Line: 4, Col: 9): Unexpected value',
      'Error: The `set-env` command is disabled. Please upgrade to using Environment Files',
    ],
    ignores: [
      'Warning: The `set-output` command is deprecated and will be disabled soon.',
      'Running on node with the label pear',
    ],
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
    reads: [
      /credentials entry with ID ['"]?(?<credentials>[\w.-]{1,80})/,
      /Scripts not permitted to use (?<call>[\w.$ ]{3,140})/,
      /to create or update workflow [`'"](?<workflow>[^`'"\n]{1,120})[`'"]/,
    ],
    title: [
      'Jenkins has no credentials with the ID “{credentials}”',
      'The script sandbox does not allow {call}',
      'The token is not allowed to change {workflow}',
    ],
    cause: [
      'The pipeline uses the credentials “{credentials}”, which do not exist where this job looks.',
      'The pipeline calls {call}, which the script sandbox does not allow.',
      "The push changes {workflow}, but the job's token is not allowed to change workflows.",
    ],
    fix: [
      ['ask', 'Create the credentials “{credentials}” where this job can read them, or correct their ID.'],
      ['ask', 'Have an administrator approve {call} under “In-process Script Approval”, or avoid the call.'],
      ['ask', 'Push {workflow} with a token that has the `workflow` scope.'],
    ],
    matches: [
      "ERROR: Could not find credentials entry with ID 'pear-deploy'",
      'ERROR: Scripts not permitted to use method java.lang.String weigh',
    ],
    ignores: ['using credential pear-deploy'],
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
    reads: [
      /crate version `(?<published>[^`\n]{1,60})`/,
      /previously published versions?:? (?<published>\d[\w.+-]{0,60}\w)/,
    ],
    title: 'Version {published} is already published',
    cause:
      'The job tries to publish version {published}, which the registry already has and does not replace.',
    fix: [
      [
        'configuration',
        'Publish a version above {published}, or skip this step if the version already exists.',
      ],
    ],
    matches: [
      'npm error You cannot publish over the previously published versions: 1.2.3.',
      'error: failed to publish: crate version `1.2.3` is already uploaded',
    ],
    ignores: ['crate version `1.2.3` is already uploaded, skipping'],
  },
});
