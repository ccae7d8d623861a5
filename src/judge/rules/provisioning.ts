import { type RuleRow, ruleTable } from '../rule.ts';

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
    meets: ['Error: Unsupported argument', 'Error: Reference to undeclared input variable'],
    spares: ['Warning: Unsupported argument is ignored', 'Terraform has been successfully initialized!'],
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
    meets: [
      'Error: Inconsistent dependency lock file',
      'Could not retrieve the list of available versions for provider orchard/pear: no available releases match the given constraints ~> 9.0',
    ],
    spares: ['- Installing orchard/pear v1.2.3...'],
  },
  'state-locked': {
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 3,
    patterns: [/Error acquiring the state lock/],
    meets: ['Error: Error acquiring the state lock'],
    spares: ['Acquiring state lock. This may take a few moments...'],
  },
  'cloud-access': {
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /No valid credential sources? found|Unable to locate credentials|could not find default credentials/,
      /\b(?:UnauthorizedOperation|InvalidClientTokenId|SignatureDoesNotMatch|UnrecognizedClientException|AuthorizationFailed)\b/,
      /\b(?:ExpiredToken(?:Exception)?|PERMISSION_DENIED|AADSTS\d{4,7})\b/,
    ],
    meets: [
      'Unable to locate credentials. You can configure credentials by running "aws configure".',
      'An error occurred (ExpiredToken) when calling the PutObject operation: expired',
    ],
    spares: ['✓ renews an ExpiredToken', 'export PERMISSION_DENIED=13'],
  },
  'cloud-throttles': {
    category: 'INFRA_ERROR',
    kind: 'rate_limited',
    strength: 4.4,
    patterns: [/Throttling(?:Exception)?: Rate exceeded|\bRequestLimitExceeded\b|\bRESOURCE_EXHAUSTED\b/],
    meets: ['An error occurred (Throttling): Throttling: Rate exceeded'],
    spares: ['✓ waits when RESOURCE_EXHAUSTED'],
  },
  'cloud-short-of-room': {
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 4.2,
    patterns: [/\bInsufficientInstanceCapacity\b/, /ZONE_RESOURCE_POOL_EXHAUSTED/, /\bSkuNotAvailable\b/],
    meets: ['api error InsufficientInstanceCapacity: no capacity for pear.large'],
    spares: ['✓ tries another zone when InsufficientInstanceCapacity'],
  },
  'ansible-playbook': {
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /ERROR! (?:couldn't resolve module\/action|the playbook: \S{1,200} could not be found|Syntax Error while loading YAML|no action detected|conflicting action statements|no hosts matched)/,
      /The task includes an option with an undefined variable/,
      /Missing sudo password/,
    ],
    meets: ["ERROR! couldn't resolve module/action 'pear'. This often indicates a misspelling."],
    spares: ['[WARNING]: no hosts matched, nothing to do'],
  },
  'ansible-source-missing': {
    kind: 'missing_file',
    strength: 4.6,
    patterns: [/\bCould not find or access '[^'\n]{1,300}'/],
    meets: ['fatal: [scales]: FAILED! => {"changed": false, "msg": "Could not find or access \'pear.conf\' on the Ansible Controller."}'],
    spares: ['ok: [scales] => (item=pear.conf)'],
  },
  'ansible-roles-missing': {
    category: 'DEPENDENCY_ERROR',
    kind: 'missing_module',
    strength: 4.6,
    patterns: [/ERROR! the role '[^']{1,120}' was not found/, /Failed to resolve the requested dependencies map/],
    meets: ["ERROR! the role 'pear' was not found in /srv/roles"],
    spares: ['- extracting pear to /srv/roles/pear'],
  },
  'ansible-host-unreachable': {
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 3.6,
    patterns: [/: UNREACHABLE! =>/],
    meets: ['fatal: [scales1]: UNREACHABLE! => {"changed": false, "unreachable": true}'],
    spares: ['scales1 : ok=4 changed=1 unreachable=0 failed=0'],
  },
});
