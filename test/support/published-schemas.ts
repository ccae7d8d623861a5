import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { default as Ajv04 } from 'ajv-draft-04';
import addFormats from 'ajv-formats';

const FOLDER = resolve(import.meta.dirname, '../fixtures/schemas');

export type PublishedSchema = 'sarif-2.1.0' | 'ctrf' | 'cloudevents';

/**
 * Returns the errors of a value by the published schema, as `path: message`, including wrong formats. Returns
 * an empty list if it is valid.
 */
export function schemaFaults(name: PublishedSchema, value: unknown): string[] {
  const options = { strict: false, allErrors: true } as const;
  const ajv = name === 'sarif-2.1.0' ? new Ajv04.default(options) : new Ajv(options);
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), 'utf8')));
  // The value is validated as it arrives, without what JSON omits.
  validate(JSON.parse(JSON.stringify(value)));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
