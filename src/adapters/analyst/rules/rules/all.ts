import type { Rule } from '../rule.ts';
import { COMPILE_RULES } from './compile.ts';
import { CRASH_RULES } from './crashes.ts';
import { GATE_RULES } from './gates.ts';
import { MACHINE_RULES } from './machine.ts';
import { NETWORK_RULES } from './network.ts';
import { PACKAGE_RULES } from './packages.ts';
import { SETUP_RULES } from './setup.ts';
import { TEST_RULES } from './tests.ts';

/** Every rule, area by area. Names are unique. */
export const ALL_RULES: readonly Rule[] = [
  ...COMPILE_RULES,
  ...GATE_RULES,
  ...CRASH_RULES,
  ...TEST_RULES,
  ...MACHINE_RULES,
  ...NETWORK_RULES,
  ...SETUP_RULES,
  ...PACKAGE_RULES,
];
