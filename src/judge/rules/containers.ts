import { defineRules, type RuleRow } from '../rule.ts';

/** Rules for messages of docker, kubectl and helm about images, compose files, clusters and charts. */
export const CONTAINER_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'image-tag-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.4,
    patterns: [
      /manifest for \S{1,200} not found/,
      /manifest unknown/,
      /failed to resolve (?:source metadata for|reference) \S{1,200}: .{0,200}not found/,
    ],
    reads: [
      /manifest for (?<image>[\w./:@-]{2,200}) not found/,
      /(?:source metadata for|resolve reference) "?(?<image>[\w./@-]{2,160}(?::[\w.-]{1,80})?)/,
    ],
    title: 'The image {image} does not exist',
    cause: 'The build requests {image}, but the registry has no image with that name and tag.',
    fix: [['dependency', 'Use a name and tag that exist in the registry instead of {image}.']],
    matches: [
      'Error response from daemon: manifest for orchard/pear:9.9 not found: manifest unknown',
      'ERROR: failed to solve: failed to resolve source metadata for docker.io/orchard/pear:9: ' +
        'docker.io/orchard/pear:9: not found',
    ],
    ignores: ['#3 [internal] load metadata for docker.io/orchard/pear:9'],
  },
  'image-platform': {
    kind: 'docker_build',
    strength: 4.8,
    patterns: [/no match(?:ing manifest)? for (?:platform in manifest|\S{1,60} in the manifest list)/],
    reads: [
      /no matching manifest for (?<platform>[\w/]{3,60}) in the manifest list/,
      /(?<image>[\w./-]{2,160}:[\w.-]{1,80}): no match for platform in manifest/,
      /(?:FROM|metadata for|reference) "?(?<image>[\w./-]{2,160}(?::[\w.-]{1,80})?)/,
      /--platform[= ](?<platform>[\w/]{3,60})(?![\w,/])/,
    ],
    title: [
      'The image {image} is not published for {platform}',
      'The image {image} does not support the platform of the job',
    ],
    cause: [
      'The build pulls {image} for the platform {platform}, but the image is not published for it.',
      '{image} is not published for one of the platforms that the build asks for.',
      'The build pulls an image for the platform {platform}, but the image is not published for it.',
    ],
    fix: [
      [
        'configuration',
        'Remove {platform} from the platforms of the build, or use an image that supports it instead of ' +
          '{image}.',
      ],
      ['configuration', 'Build only for the platforms that {image} supports, or use another image.'],
      [
        'configuration',
        'Remove {platform} from the platforms of the build, or use an image that supports it.',
      ],
    ],
    outranks: ['image-tag-missing'],
    matches: [
      'no matching manifest for linux/arm/v7 in the manifest list entries',
      'ERROR: failed to solve: orchard/pear:9: failed to resolve source metadata for ' +
        'docker.io/orchard/pear:9: no match for platform in manifest: not found',
    ],
    ignores: ['resolved the manifest for linux/arm/v7'],
    says: [
      {
        log: 'Error response from daemon: no matching manifest for linux/arm/v7 in the manifest list entries',
        cause:
          'The build pulls an image for the platform linux/arm/v7, but the image is not published for it.',
        fix: 'Remove linux/arm/v7 from the platforms of the build, or use an image that supports it.',
      },
      {
        log:
          'ERROR: failed to solve: orchard/pear:9: failed to resolve source metadata for ' +
          'docker.io/orchard/pear:9: no match for platform in manifest: not found',
        title: 'The image docker.io/orchard/pear:9 does not support the platform of the job',
        fix: 'Build only for the platforms that docker.io/orchard/pear:9 supports, or use another image.',
      },
    ],
  },
  'compose-file': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /no configuration file provided: not found/,
      /service "[\w.-]{1,80}" (?:refers to|depends on) undefined/,
      /Unsupported config option for services/,
      /^services\.[\w.-]{1,120} (?:must be|Additional property)/,
    ],
    reads: [
      /service "(?<dependent>[\w.-]{1,80})" (?:refers to|depends on) undefined (?<undefined>\w{1,20} "[\w.-]{1,80}"|\w{1,20} [\w.-]{1,80})/,
      /(?<none>no configuration file provided)/,
      /^(?<key>services\.[\w.-]{1,120}) (?:must be|Additional property)/,
    ],
    title: [
      'The Compose file does not define the {undefined}',
      '{none?}Docker Compose cannot find a Compose file',
      'The Compose file has an error at {key}',
    ],
    cause: [
      'The service {dependent} needs the {undefined}, which the Compose file does not define.',
      '{none?}Docker Compose was run in a folder without a Compose file.',
    ],
    fix: [
      [
        'configuration',
        'Define the {undefined} in the Compose file, or correct its name in the service {dependent}.',
      ],
      [
        'configuration',
        '{none?}Specify the Compose file with `-f`, or run `{command}` in the folder that contains it.',
      ],
      ['configuration', 'Fix {key} in the Compose file: “{message}”.'],
    ],
    matches: [
      'service "scales" depends on undefined service "pear": invalid compose project',
      'no configuration file provided: not found',
    ],
    ignores: ['service "scales" depends on "pear"'],
  },
  'kubernetes-manifest': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /error validating "[^"]{1,200}": error validating data/,
      /no matches for kind "/,
      /error converting YAML to JSON/,
      /Error from server \((?:Invalid|BadRequest|NotFound)\)/,
      /CreateContainerConfigError/,
      /couldn't find key \S{1,80} in (?:Secret|ConfigMap)/,
      /(?:secret|configmap) "[\w.-]{1,120}" not found/,
    ],
    reads: [
      /error validating "(?<manifest>[^"\n]{1,200})": error validating data: (?<why>[^;\n]{3,140})/,
      /no matches for kind "(?<resource>[^"\n]{1,80})" in version "(?<version>[^"\n]{1,80})"/,
      /(?<object>(?:secret|configmap)s? "[\w.-]{1,120}") not found/i,
    ],
    title: [
      '{manifest} is not a valid manifest',
      'The cluster does not support {resource} in {version}',
      'The {object} does not exist in the cluster',
    ],
    cause: [
      'The cluster rejects {manifest}: “{why}”.',
      'The manifest uses {resource} of {version}, which this cluster does not recognize.',
      'The workload needs the {object}, which is not in its namespace.',
    ],
    fix: [
      ['configuration', 'Fix {manifest}: “{why}”.'],
      [
        'configuration',
        'Install the resource definition for {resource} first, or use an API version that the cluster ' +
          'supports instead of {version}.',
      ],
      ['ask', "Create the {object} in the workload's namespace, or correct its name."],
    ],
    matches: [
      'error: error validating "scales.yaml": error validating data: unknown field "replica"',
      'error: unable to recognize "scales.yaml": no matches for kind "Basket" in version "fruit/v1"',
    ],
    ignores: ['secret "pear" created', 'Warning: secret "pear" not found, will retry'],
  },
  'kubernetes-access': {
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /Error from server \(Forbidden\)/,
      /cannot (?:get|list|create|patch|update|delete|watch) resource "/,
      /You must be logged in to the server/,
      /The connection to the server localhost:8080 was refused/,
      /invalid configuration: no configuration has been provided/,
    ],
    reads: [
      /User "(?<account>[^"\n]{1,120})" cannot (?<verb>\w{2,12}) resource "(?<resource>[\w./-]{1,80})"/,
      /(?<local>localhost:8080 was refused|no configuration has been provided)/,
    ],
    title: ['{account} is not allowed to {verb} {resource}', '{local?}kubectl has no cluster to connect to'],
    cause: [
      'The job tried to {verb} {resource} as {account}, whose role does not allow it.',
      '{local?}kubectl found no configuration in this job and fell back to localhost:8080.',
    ],
    fix: [
      ['ask', 'Give {account} a role that is allowed to {verb} {resource}.'],
      ['configuration', "{local?}Set up the cluster's kubeconfig before this step."],
    ],
    matches: [
      'Error from server (Forbidden): pods is forbidden: User "ci" cannot list resource "pods" in API ' +
        'group ""',
      'error: You must be logged in to the server (Unauthorized)',
      'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    ],
    ignores: ['clusterrole "ci" can list resource "pods"'],
  },
  'image-not-pulled': {
    kind: 'docker_build',
    strength: 2.5,
    patterns: [/\b(?:ErrImagePull|ImagePullBackOff|InvalidImageName)\b/],
    matches: ['scales-4711   0/1   ImagePullBackOff   0   90s'],
    ignores: ['✓ waits while ImagePullBackOff'],
  },
  'cluster-short-of-room': {
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 4.2,
    patterns: [
      /\b0\/\d{1,6} nodes are available: .{0,300}(?:Insufficient|didn't|untolerated)/,
      /\bFailedScheduling\b/,
      /The node was low on resource/,
      /etcdserver: (?:request timed out|leader changed)/,
      /Error from server \((?:ServiceUnavailable|InternalError|Timeout|TooManyRequests)\)/,
    ],
    fix: [['rerun', 'Run the job again when the cluster has room; it reported “{message}”.']],
    matches: [
      '0/3 nodes are available: 3 Insufficient memory.',
      'Error from server: etcdserver: request timed out',
    ],
    ignores: ['3/3 nodes are available: pear-1 pear-2 pear-3', '3/3 nodes are ready'],
  },
  'cluster-unreachable': {
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 4.2,
    patterns: [
      /Unable to connect to the server: (?:dial tcp|net\/http|EOF|context deadline)/,
      /error during connect: /,
    ],
    matches: ['Unable to connect to the server: dial tcp 192.0.2.7:6443: i/o timeout'],
    ignores: ['Connected to the server 192.0.2.7:6443'],
  },
  'helm-chart': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /(?:UPGRADE|INSTALLATION) FAILED: (?:template|execution error|unable to build|parse error|values don't meet|cannot re-use|another operation|"[^"]{1,100}" has no deployed)/,
      /values don't meet the specifications of the schema/,
    ],
    reads: [/template: (?<template>[\w./-]{1,160}):(?<row>\d{1,6}):/],
    title: ['The chart cannot be rendered at {template}:{row}'],
    cause: ['Helm cannot render {template} at line {row}: “{message}”.'],
    fix: [['configuration', 'Fix {template} at line {row}, or the values that it reads.']],
    matches: [
      'Error: UPGRADE FAILED: template: scales/templates/pod.yaml:4:9: executing "scales" at <.Values>',
    ],
    ignores: ['STATUS: deployed', 'Release "scales" has been upgraded.'],
  },
  'chart-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [
      /found in Chart\.yaml, but missing in charts/,
      /chart "[^"]{1,120}" (?:matching|version) .{1,80} not found/,
    ],
    reads: [/missing in charts\/ directory: (?<chart>[\w.,-]{1,80}(?:, [\w.-]{1,80}){0,8})/],
    title: 'The chart {chart} was not downloaded',
    cause: 'Chart.yaml lists {chart}, but the charts folder does not contain it.',
    fix: [
      [
        'dependency',
        'Run `helm dependency build` before this step; {chart} is in Chart.yaml but was not downloaded.',
      ],
    ],
    matches: ['Error: found in Chart.yaml, but missing in charts/ directory: pear'],
    ignores: ['Saving 1 charts', 'Chart.yaml found in charts/pear'],
  },
});

/** Rules for messages of terraform, ansible, and the tools of cloud providers. */
export const PROVISIONING_RULES: readonly RuleRow[] = defineRules('CONFIG_ERROR', {
  'terraform-configuration': {
    kind: 'workflow_config',
    strength: 4.6,
    patterns: [
      /Error: (?:Unsupported (?:argument|block type|attribute)|Missing required argument|Reference to undeclared|Backend initialization required|Backend configuration changed|No value for required variable)/,
      /Error: (?:Invalid (?:reference|value for|expression|count argument|for_each argument|provider configuration|index|function argument)|Duplicate resource|Argument or block definition required|Unclosed configuration block|Invalid block definition|Missing newline after argument|Inconsistent conditional result types)/,
      /Unsupported Terraform Core version/,
    ],
    reads: [
      /on (?<file>[\w./-]{1,160}\.tf(?:vars)?) line (?<row>\d{1,6})/,
      /Error: (?<why>[A-Z][^\n]{3,120})/,
      /(?<init>Backend initialization required|Backend configuration changed)/,
      /input variable "(?<input>[\w-]{1,80})" is not set/,
      /variable with the name "(?<undeclared>[\w-]{1,80})" has not been declared/,
      /argument "(?<argument>[\w-]{1,80})" is required/,
      /(?:argument|block|attribute) named "(?<unexpected>[\w-]{1,80})"/,
    ],
    title: ['{file} line {row}: {why}', 'Terraform: {why}'],
    cause: [
      'Terraform rejects the configuration at {file} line {row}: “{why}”.',
      'Terraform rejects the configuration: “{why}”.',
    ],
    fix: [
      ['configuration', 'Run `terraform init` before this step; Terraform reports “{init}”.'],
      ['configuration', 'Set the variable {input} for this step (`TF_VAR_{input}`), or give it a default.'],
      ['code', 'Declare the variable `{undeclared}`, or correct its name in {file} at line {row}.'],
      ['code', 'Set `{argument}` in the block at {file} line {row}.'],
      ['code', 'Correct or remove `{unexpected}` in {file} at line {row}.'],
      ['code', 'Fix {file} at line {row}: “{why}”.'],
    ],
    matches: ['Error: Unsupported argument', 'Error: Reference to undeclared input variable'],
    ignores: ['Warning: Unsupported argument is ignored', 'Terraform has been successfully initialized!'],
  },
  'terraform-providers': {
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [
      /Error: Inconsistent dependency lock file/,
      /no available releases match the given constraints/,
      /does not match any of the checksums (?:recorded|previously)/,
      /Error: Incompatible provider version/,
    ],
    reads: [
      /(?<stale>Inconsistent dependency lock file)/,
      /provider (?<provider>\S{3,120}): no available releases match the given constraints (?<range>.{1,80})/,
    ],
    fix: [
      ['dependency', 'Run `terraform init` and commit the lock file; Terraform reports “{stale}”.'],
      ['dependency', 'Change the version constraint on {provider}, because no release matches {range}.'],
    ],
    matches: [
      'Error: Inconsistent dependency lock file',
      'Could not retrieve the list of available versions for provider orchard/pear: no available ' +
        'releases match the given constraints ~> 9.0',
    ],
    ignores: ['- Installing orchard/pear v1.2.3...'],
    says: [
      {
        log: 'provider orchard/pear: no available releases match the given constraints ~> 9.0',
        fix: 'Change the version constraint on orchard/pear, because no release matches ~> 9.0.',
      },
      {
        log: 'Error: Inconsistent dependency lock file',
        fix:
          'Run `terraform init` and commit the lock file; Terraform reports “Inconsistent dependency ' +
          'lock file”.',
      },
    ],
  },
  'state-locked': {
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 3,
    patterns: [/Error acquiring the state lock/],
    reads: [/^\W{0,6}Who:\s{1,12}(?<holder>\S{1,120})/, /^\W{0,6}ID:\s{1,12}(?<lock>[\w-]{8,60})/],
    matches: ['Error: Error acquiring the state lock'],
    ignores: ['Acquiring state lock. This may take a few moments...'],
  },
  'cloud-access': {
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /No valid credential sources? found|Unable to locate credentials|could not find default credentials/,
      /\b(?:UnauthorizedOperation|InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClientException|AuthorizationFailed)\b/,
      /\b(?:ExpiredToken(?:Exception)?|PERMISSION_DENIED|AADSTS\d{4,7})\b/,
    ],
    reads: [
      /(?<aws>No valid credential sources? found|Unable to locate credentials)/,
      /(?<google>could not find default credentials)/,
      /\b(?<expired>ExpiredToken(?:Exception)?)\b/,
    ],
    fix: [
      ['configuration', 'Log in to AWS in an earlier step (“{aws}”).'],
      ['configuration', 'Log in to Google Cloud in an earlier step (“{google}”).'],
      ['configuration', 'Log in again right before this step, because the login expired ({expired}).'],
    ],
    matches: [
      'Unable to locate credentials. You can configure credentials by running "aws configure".',
      'An error occurred (ExpiredToken) when calling the PutObject operation: expired',
    ],
    ignores: ['✓ renews an ExpiredToken', 'export PERMISSION_DENIED=13'],
    says: [
      {
        log: 'Unable to locate credentials. You can configure credentials by running "aws configure".',
        fix: 'Log in to AWS in an earlier step (“Unable to locate credentials”).',
      },
      {
        log: 'google.auth.exceptions.DefaultCredentialsError: could not find default credentials',
        fix: 'Log in to Google Cloud in an earlier step (“could not find default credentials”).',
      },
      {
        log: 'An error occurred (ExpiredToken) when calling the PutObject operation: expired',
        fix: 'Log in again right before this step, because the login expired (ExpiredToken).',
      },
    ],
  },
  'cloud-throttles': {
    category: 'INFRA_ERROR',
    kind: 'rate_limited',
    strength: 4.4,
    patterns: [/Throttling(?:Exception)?: Rate exceeded|\bRequestLimitExceeded\b|\bRESOURCE_EXHAUSTED\b/],
    matches: ['An error occurred (Throttling): Throttling: Rate exceeded'],
    ignores: ['✓ waits when RESOURCE_EXHAUSTED'],
  },
  'cloud-short-of-room': {
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 4.2,
    patterns: [/\bInsufficientInstanceCapacity\b/, /ZONE_RESOURCE_POOL_EXHAUSTED/, /\bSkuNotAvailable\b/],
    matches: ['api error InsufficientInstanceCapacity: no capacity for pear.large'],
    ignores: ['✓ tries another zone when InsufficientInstanceCapacity'],
  },
  'ansible-playbook': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /ERROR! (?:couldn't resolve module\/action|the playbook: \S{1,200} could not be found|Syntax Error while loading YAML|no action detected|conflicting action statements|no hosts matched)/,
      /The task includes an option with an undefined variable/,
      /Missing sudo password/,
    ],
    reads: [
      /couldn't resolve module\/action '(?<action>[\w.]{1,120})'/,
      /the playbook: (?<playbook>\S{1,200}) could not be found/,
      /'(?<undefined>\w{1,80})' is undefined/,
      /(?<sudo>Missing sudo password)/,
    ],
    fix: [
      [
        'configuration',
        'Install the collection that provides {action} before this step, or correct its name.',
      ],
      ['configuration', 'Correct the path to {playbook} in the call to ansible-playbook.'],
      ['configuration', 'Define the variable {undefined}, or give it a default.'],
    ],
    matches: ["ERROR! couldn't resolve module/action 'pear'. This often indicates a misspelling."],
    ignores: ['[WARNING]: no hosts matched, nothing to do'],
    says: [
      {
        log: "ERROR! couldn't resolve module/action 'pear'. This often indicates a misspelling.",
        fix: 'Install the collection that provides pear before this step, or correct its name.',
      },
      {
        log: 'ERROR! the playbook: site/pear.yml could not be found',
        fix: 'Correct the path to site/pear.yml in the call to ansible-playbook.',
      },
      {
        log: "The task includes an option with an undefined variable: 'basket' is undefined",
        fix: 'Define the variable basket, or give it a default.',
      },
    ],
  },
  'ansible-source-missing': {
    kind: 'missing_file',
    strength: 4.6,
    patterns: [/\bCould not find or access '[^'\n]{1,300}'/],
    reads: [/Could not find or access '(?<source>[^'\n]{1,300})'/],
    title: 'Ansible cannot find {source}',
    cause: 'A task in the playbook reads {source}, which is not on the machine that runs Ansible.',
    fix: [['code', 'Commit {source} where the playbook looks for it, or correct its path in the task.']],
    matches: [
      'fatal: [scales]: FAILED! => {"changed": false, "msg": "Could not find or access \'pear.conf\' on the Ansible Controller."}',
    ],
    ignores: ['ok: [scales] => (item=pear.conf)'],
  },
  'ansible-roles-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'missing_module',
    strength: 4.6,
    patterns: [
      /ERROR! the role '[^']{1,120}' was not found/,
      /Failed to resolve the requested dependencies map/,
    ],
    reads: [/the role '(?<role>[^'\n]{1,120})' was not found/],
    title: 'The role {role} is not installed',
    cause: 'The playbook uses the role {role}, which is not in any of the folders that Ansible searches.',
    fix: [
      [
        'dependency',
        'Install the role {role} with `ansible-galaxy install` before this step, or correct its name.',
      ],
    ],
    matches: ["ERROR! the role 'pear' was not found in /srv/roles"],
    ignores: ['- extracting pear to /srv/roles/pear'],
  },
  'ansible-host-unreachable': {
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 3.6,
    patterns: [/: UNREACHABLE! =>/],
    reads: [/\[(?<target>[\w.-]{1,100})\]: UNREACHABLE!/],
    fix: [['rerun', 'Check that {target} accepts connections, and then run the job again.']],
    matches: ['fatal: [scales1]: UNREACHABLE! => {"changed": false, "unreachable": true}'],
    ignores: ['scales1 : ok=4 changed=1 unreachable=0 failed=0'],
    says: [
      {
        log: 'fatal: [scales1]: UNREACHABLE! => {"changed": false, "unreachable": true}',
        fix: 'Check that scales1 accepts connections, and then run the job again.',
      },
    ],
  },
});
