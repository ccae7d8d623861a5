import { fileURLToPath } from 'node:url';
import { COMMON } from '../../src/config/schema.ts';

/** Settings without a variable, such as time limits that a test shortens. */
export interface Settings {
  readonly [name: string]: string | number | boolean | Settings;
}

const NAME = 'FAULTLINE_TEST_SETTINGS';

/** Returns the environment of a process that uses these settings instead of the defaults. */
export function withSettings(settings: Settings): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${fileURLToPath(import.meta.url)}`,
    [NAME]: JSON.stringify(settings),
  };
}

// The process loads this file before the program.
replaceDefaults(COMMON, JSON.parse(process.env[NAME] ?? '{}'));

function replaceDefaults(defaults: object, settings: Settings): void {
  for (const [name, value] of Object.entries(settings)) {
    const inner: unknown = Reflect.get(defaults, name);
    if (inner === undefined) throw new Error(`there is no setting ${name}`);
    if (typeof value === 'object' && typeof inner === 'object' && inner !== null)
      replaceDefaults(inner, value);
    else Reflect.set(defaults, name, value);
  }
}
