import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/schema.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const validate = new Ajv({ strict: false }).compile(
  JSON.parse(read('deploy/helm/faultline/values.schema.json')),
);
const accepts = (settings: object) =>
  validate({
    mode: 'server',
    publicUrl: 'https://faultline.example',
    secretName: 'faultline',
    image: { repository: 'faultline' },
    settings,
  });

describe('the values of the Helm chart', () => {
  it('include every setting that is not secret, and refuse secrets, which belong in a Secret', () => {
    const accepted = VARIABLES.filter(({ name }) => accepts({ [name]: 'value' }));

    expect(accepted.map(({ name }) => name)).toEqual(
      VARIABLES.filter(({ secret }) => secret !== true).map(({ name }) => name),
    );
  });

  it('have the version of this package', () => {
    const { version } = JSON.parse(read('package.json'));

    expect(read('deploy/helm/faultline/Chart.yaml')).toMatch(
      new RegExp(`^version: ${version}\nappVersion: ${version}$`, 'm'),
    );
    expect(read('deploy/kubernetes/faultline.yaml')).toContain(`image: "faultline:${version}"`);
  });
});
