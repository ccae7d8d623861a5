import type { RuleRow } from '../rule.ts';
import { COMPILE_RULES } from './compile.ts';
import { CONTAINER_RULES, PROVISIONING_RULES } from './containers.ts';
import { ENVIRONMENT_RULES, TOOLCHAIN_RULES } from './environment.ts';
import { GATE_RULES, PROCESS_RULES } from './gates.ts';
import { LIBRARY_RULES } from './libraries.ts';
import { CRASH_RULES, MACHINE_RULES } from './machine.ts';
import { ACCESS_RULES, NETWORK_RULES } from './network.ts';
import { PIPELINE_RULES, RUNNER_RULES } from './pipeline.ts';
import { PACKAGE_RULES, RESOLVER_RULES } from './resolvers.ts';
import { TEST_RULES } from './tests.ts';

/** Every rule, area by area. Names are unique. */
export const ALL_RULES: readonly RuleRow[] = [
  ...COMPILE_RULES,
  ...GATE_RULES,
  ...PROCESS_RULES,
  ...CRASH_RULES,
  ...TEST_RULES,
  ...MACHINE_RULES,
  ...NETWORK_RULES,
  ...ACCESS_RULES,
  ...ENVIRONMENT_RULES,
  ...PIPELINE_RULES,
  ...RESOLVER_RULES,
  ...LIBRARY_RULES,
  ...PACKAGE_RULES,
  ...TOOLCHAIN_RULES,
  ...RUNNER_RULES,
  ...CONTAINER_RULES,
  ...PROVISIONING_RULES,
];
