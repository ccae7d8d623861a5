import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { default as Ajv04 } from 'ajv-draft-04';
import addFormats from 'ajv-formats';

const FOLDER = resolve(import.meta.dirname, '../fixtures/schemas');

export type PublishedSchema = 'sarif-2.1.0' | 'ctrf' | 'cloudevents' | 'cdevents/pipelinerunfinished';

/**
 * Returns the errors of a value by the published schema, as `path: message`, including wrong formats. Returns
 * an empty list if it is valid.
 */
export function listSchemaErrors(name: PublishedSchema, value: unknown): string[] {
  const options = { strict: false, allErrors: true } as const;
  const ajv = name.startsWith('cdevents/')
    ? new Ajv2020({ ...options, schemas: readFolder('cdevents/links') })
    : name === 'sarif-2.1.0'
      ? new Ajv04.default(options)
      : new Ajv(options);
  addFormats.default(ajv);
  const validate = ajv.compile(readSchema(`${name}.schema.json`));
  // The value is validated as it arrives, without what JSON omits.
  validate(JSON.parse(JSON.stringify(value)));
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

/** Reads the schemas of a folder, to which others refer. */
function readFolder(name: string): object[] {
  return readdirSync(join(FOLDER, name)).map((file) => readSchema(join(name, file)));
}

function readSchema(file: string) {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
}
