import type { RuleRow } from '../rule.ts';
import { ACCESS_RULES } from './access.ts';
import { RUNNER_RULES } from './build-services.ts';
import { COMPILE_RULES } from './compile.ts';
import { CONTAINER_RULES, PROVISIONING_RULES } from './containers.ts';
import { CRASH_RULES } from './crashes.ts';
import { ENVIRONMENT_RULES } from './environment.ts';
import { GATE_RULES, PROCESS_RULES } from './gates.ts';
import { LIBRARY_RULES } from './libraries.ts';
import { LOCK_FILE_RULES } from './lock-files.ts';
import { MACHINE_RULES } from './machine.ts';
import { MAVEN_GRADLE_RULES } from './maven-gradle.ts';
import { MISSING_FILE_RULES } from './missing-files.ts';
import { MODULE_RULES } from './modules.ts';
import { MORE_REGISTRY_RULES } from './more-registries.ts';
import { NETWORK_RULES } from './network.ts';
import { NPM_RULES } from './npm.ts';
import { PIPELINE_RULES } from './pipeline.ts';
import { PYTHON_PACKAGE_RULES } from './python-packages.ts';
import { SCRIPT_RULES } from './scripts.ts';
import { TEST_RULES } from './tests.ts';
import { TOOLCHAIN_RULES } from './toolchains.ts';
import { TRUST_RULES } from './trust.ts';

/** Every rule, area by area. The names are unique. */
export const ALL_RULES: readonly RuleRow[] = [
  ...COMPILE_RULES,
  ...GATE_RULES,
  ...PROCESS_RULES,
  ...CRASH_RULES,
  ...TEST_RULES,
  ...MACHINE_RULES,
  ...NETWORK_RULES,
  ...ACCESS_RULES,
  ...TRUST_RULES,
  ...ENVIRONMENT_RULES,
  ...SCRIPT_RULES,
  ...MISSING_FILE_RULES,
  ...PIPELINE_RULES,
  ...NPM_RULES,
  ...PYTHON_PACKAGE_RULES,
  ...MAVEN_GRADLE_RULES,
  ...MORE_REGISTRY_RULES,
  ...LIBRARY_RULES,
  ...MODULE_RULES,
  ...LOCK_FILE_RULES,
  ...TOOLCHAIN_RULES,
  ...RUNNER_RULES,
  ...CONTAINER_RULES,
  ...PROVISIONING_RULES,
];
