import { type RuleRow, ruleTable } from '../rule.ts';

/** Images, compose files, clusters and charts: what docker, kubectl and helm say. */
export const CONTAINER_RULES: readonly RuleRow[] = ruleTable('CONFIG_ERROR', {
  'image-tag-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.4,
    patterns: [
      /manifest for \S{1,200} not found/,
      /manifest unknown/,
      /failed to resolve (?:source metadata for|reference) \S{1,200}: .{0,200}not found/,
    ],
    matches: [
      'Error response from daemon: manifest for orchard/pear:9.9 not found: manifest unknown',
      'ERROR: failed to solve: failed to resolve source metadata for docker.io/orchard/pear:9: docker.io/orchard/pear:9: not found',
    ],
    ignores: ['#3 [internal] load metadata for docker.io/orchard/pear:9'],
  },
  'build-context': {
    kind: 'docker_build',
    strength: 4.4,
    patterns: [
      /failed to calculate checksum of ref .{1,300}not found/,
      /forbidden path outside the build context/,
      /the Dockerfile \(.{1,200}\) must be within the build context/,
    ],
    matches: [
      'failed to calculate checksum of ref 4711::x: "/basket.lock": not found',
      'COPY failed: forbidden path outside the build context: ../pear',
    ],
    ignores: ['#5 [internal] load build context'],
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
    matches: ['service "scales" depends on undefined service "pear": invalid compose project', 'no configuration file provided: not found'],
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
    matches: [
      'Error from server (Forbidden): pods is forbidden: User "ci" cannot list resource "pods" in API group ""',
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
    matches: ['0/3 nodes are available: 3 Insufficient memory.', 'Error from server: etcdserver: request timed out'],
    ignores: ['3/3 nodes are available: pear-1 pear-2 pear-3', '3/3 nodes are ready'],
  },
  'cluster-unreachable': {
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 4.2,
    patterns: [/Unable to connect to the server: (?:dial tcp|net\/http|EOF|context deadline)/, /error during connect: /],
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
    matches: ['Error: UPGRADE FAILED: template: scales/templates/pod.yaml:4:9: executing "scales" at <.Values>'],
    ignores: ['STATUS: deployed', 'Release "scales" has been upgraded.'],
  },
  'chart-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [/found in Chart\.yaml, but missing in charts/, /chart "[^"]{1,120}" (?:matching|version) .{1,80} not found/],
    matches: ['Error: found in Chart.yaml, but missing in charts/ directory: pear'],
    ignores: ['Saving 1 charts', 'Chart.yaml found in charts/pear'],
  },
});

/** What terraform, ansible and the clouds' own tools say. */
export const PROVISIONING_RULES: readonly RuleRow[] = ruleTable('CONFIG_ERROR', {
  'terraform-configuration': {
    kind: 'workflow_config',
    strength: 4.6,
    patterns: [
      /Error: (?:Unsupported (?:argument|block type|attribute)|Missing required argument|Reference to undeclared|Backend initialization required|Backend configuration changed|No value for required variable)/,
      /Error: (?:Invalid (?:reference|value for|expression|count argument|for_each argument|provider configuration|index|function argument)|Duplicate resource|Argument or block definition required|Inconsistent conditional result types)/,
      /Unsupported Terraform Core version/,
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
    matches: [
      'Error: Inconsistent dependency lock file',
      'Could not retrieve the list of available versions for provider orchard/pear: no available releases match the given constraints ~> 9.0',
    ],
    ignores: ['- Installing orchard/pear v1.2.3...'],
  },
  'state-locked': {
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 3,
    patterns: [/Error acquiring the state lock/],
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
    matches: [
      'Unable to locate credentials. You can configure credentials by running "aws configure".',
      'An error occurred (ExpiredToken) when calling the PutObject operation: expired',
    ],
    ignores: ['✓ renews an ExpiredToken', 'export PERMISSION_DENIED=13'],
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
    matches: ["ERROR! couldn't resolve module/action 'pear'. This often indicates a misspelling."],
    ignores: ['[WARNING]: no hosts matched, nothing to do'],
  },
  'ansible-source-missing': {
    kind: 'missing_file',
    strength: 4.6,
    patterns: [/\bCould not find or access '[^'\n]{1,300}'/],
    matches: ['fatal: [scales]: FAILED! => {"changed": false, "msg": "Could not find or access \'pear.conf\' on the Ansible Controller."}'],
    ignores: ['ok: [scales] => (item=pear.conf)'],
  },
  'ansible-roles-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'missing_module',
    strength: 4.6,
    patterns: [/ERROR! the role '[^']{1,120}' was not found/, /Failed to resolve the requested dependencies map/],
    matches: ["ERROR! the role 'pear' was not found in /srv/roles"],
    ignores: ['- extracting pear to /srv/roles/pear'],
  },
  'ansible-host-unreachable': {
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 3.6,
    patterns: [/: UNREACHABLE! =>/],
    matches: ['fatal: [scales1]: UNREACHABLE! => {"changed": false, "unreachable": true}'],
    ignores: ['scales1 : ok=4 changed=1 unreachable=0 failed=0'],
  },
});
