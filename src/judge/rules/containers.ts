import { type Rule, ruleTable } from '../rule.ts';

/** Images, compose files, clusters and charts: what docker, kubectl and helm say. */
export const CONTAINER_RULES: readonly Rule[] = ruleTable({ category: 'CONFIG_ERROR' }, [
  {
    name: 'image-tag-missing',
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.4,
    patterns: [
      /manifest for \S{1,200} not found/,
      /manifest unknown/,
      /failed to resolve (?:source metadata for|reference) \S{1,200}: .{0,200}not found/,
    ],
  },
  {
    name: 'build-context',
    kind: 'docker_build',
    strength: 4.4,
    patterns: [
      /failed to calculate checksum of ref .{1,300}not found/,
      /forbidden path outside the build context/,
      /the Dockerfile \(.{1,200}\) must be within the build context/,
    ],
  },
  {
    name: 'compose-file',
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /no configuration file provided: not found/,
      /service "[\w.-]{1,80}" (?:refers to|depends on) undefined/,
      /Unsupported config option for services/,
      /^services\.[\w.-]{1,120} (?:must be|Additional property)/,
    ],
  },
  {
    name: 'kubernetes-manifest',
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
  },
  {
    name: 'kubernetes-access',
    kind: 'permission_or_secret',
    strength: 4.6,
    patterns: [
      /Error from server \(Forbidden\)/,
      /cannot (?:get|list|create|patch|update|delete|watch) resource "/,
      /You must be logged in to the server/,
      /The connection to the server localhost:8080 was refused/,
      /invalid configuration: no configuration has been provided/,
    ],
  },
  {
    name: 'image-not-pulled',
    kind: 'docker_build',
    strength: 2.5,
    patterns: [/\bErrImagePull\b/, /\bImagePullBackOff\b/, /\bInvalidImageName\b/],
  },
  {
    name: 'cluster-short-of-room',
    category: 'INFRA_ERROR',
    kind: 'service_unavailable',
    strength: 4.2,
    patterns: [
      /\d{1,6}\/\d{1,6} nodes are available: /,
      /\bFailedScheduling\b/,
      /The node was low on resource/,
      /etcdserver: (?:request timed out|leader changed)/,
      /Error from server \((?:ServiceUnavailable|InternalError|Timeout|TooManyRequests)\)/,
    ],
  },
  {
    name: 'cluster-unreachable',
    category: 'INFRA_ERROR',
    kind: 'network',
    strength: 4.2,
    patterns: [/Unable to connect to the server: (?:dial tcp|net\/http|EOF|context deadline)/, /error during connect: /],
  },
  {
    name: 'helm-chart',
    kind: 'workflow_config',
    strength: 4.4,
    patterns: [
      /(?:UPGRADE|INSTALLATION) FAILED: (?:template|execution error|unable to build|parse error|values don't meet|cannot re-use|another operation|"[^"]{1,100}" has no deployed)/,
      /values don't meet the specifications of the schema/,
      /another operation \(install\/upgrade\/rollback\) is in progress/,
    ],
  },
  {
    name: 'chart-missing',
    category: 'DEPENDENCY_ERROR',
    kind: 'dependency_install',
    strength: 4.6,
    patterns: [/found in Chart\.yaml, but missing in charts/, /chart "[^"]{1,120}" (?:matching|version) .{1,80} not found/],
  },
  {
    name: 'pod-crashes',
    category: 'CODE_ERROR',
    kind: 'crash',
    strength: 2.2,
    patterns: [/\bCrashLoopBackOff\b/],
  },
]);
