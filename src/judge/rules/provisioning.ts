import { type Rule, ruleTable } from '../rule.ts';

/** What terraform, ansible and the clouds' own tools say. */
export const PROVISIONING_RULES: readonly Rule[] = ruleTable({ category: 'CONFIG_ERROR' }, [
  {
    name: 'terraform-configuration',
    kind: 'workflow_config',
    strength: 4.6,
    patterns: [
      /Error: (?:Unsupported (?:argument|block type|attribute)|Missing required argument|Reference to undeclared|Backend initialization required|Backend configuration changed|No value for required variable)/,
      /Error: (?:Invalid (?:reference|value for|expression|count argument|for_each argument|provider configuration|index|function argument)|Duplicate resource|Argument or block definition required|Inconsistent conditional result types)/,
      /Unsupported Terraform Core version/,
    ],
  },
  {
    name: 'terraform-providers',
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [
      /Error: Inconsistent dependency lock file/,
      /no available releases match the given constraints/,
      /does not match any of the checksums (?:recorded|previously)/,
      /Error: Incompatible provider version/,
    ],
  },
  {
    name: 'state-locked',
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 3,
    patterns: [/Error acquiring the state lock/],
  },
  {
    name: 'cloud-access',
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /No valid credential sources? found/,
      /Unable to locate credentials/,
      /\bUnauthorizedOperation\b/,
      /\bExpiredToken(?:Exception)?\b/,
      /\bInvalidClientTokenId\b/,
      /\bSignatureDoesNotMatch\b/,
      /\bUnrecognizedClientException\b/,
      /\bAuthorizationFailed\b/,
      /could not find default credentials/,
      /\bPERMISSION_DENIED\b/,
      /\bAADSTS\d{4,7}\b/,
    ],
  },
  {
    name: 'cloud-throttles',
    category: 'INFRA_ERROR',
    kind: 'rate_limited',
    strength: 4.4,
    patterns: [/Throttling(?:Exception)?: Rate exceeded/, /\bRequestLimitExceeded\b/, /\bRESOURCE_EXHAUSTED\b/],
  },
  {
    name: 'cloud-short-of-room',
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 4.2,
    patterns: [/\bInsufficientInstanceCapacity\b/, /ZONE_RESOURCE_POOL_EXHAUSTED/, /\bSkuNotAvailable\b/],
  },
  {
    name: 'ansible-playbook',
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /ERROR! (?:couldn't resolve module\/action|the playbook: \S{1,200} could not be found|Syntax Error while loading YAML|no action detected|conflicting action statements|no hosts matched)/,
      /The task includes an option with an undefined variable/,
      /Missing sudo password/,
    ],
  },
  {
    name: 'ansible-source-missing',
    kind: 'missing_file',
    strength: 4.6,
    patterns: [/\bCould not find or access '[^'\n]{1,300}'/],
  },
  {
    name: 'ansible-roles-missing',
    category: 'DEPENDENCY_ERROR',
    kind: 'missing_module',
    strength: 4.6,
    patterns: [/ERROR! the role '[^']{1,120}' was not found/, /Failed to resolve the requested dependencies map/],
  },
  {
    name: 'ansible-host-unreachable',
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 3.6,
    patterns: [/: UNREACHABLE! =>/],
  },
]);
