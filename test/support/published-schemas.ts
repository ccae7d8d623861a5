import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { default as Ajv04 } from 'ajv-draft-04';
import addFormats from 'ajv-formats';

const FOLDER = resolve(import.meta.dirname, '../fixtures/schemas');

export type PublishedSchema = 'sarif-2.1.0' | 'ctrf' | 'cloudevents';

/** What the published schema finds wrong with a value, as `path: what`; empty where it is valid. Formats are checked too. */
export function schemaFaults(name: PublishedSchema, value: unknown): string[] {
  const options = { strict: false, allErrors: true } as const;
  const ajv = name === 'sarif-2.1.0' ? new Ajv04.default(options) : new Ajv(options);
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(join(FOLDER, `${name}.schema.json`), 'utf8')));
  // As it arrives: without what JSON leaves out.
  validate(JSON.parse(JSON.stringify(value)));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
