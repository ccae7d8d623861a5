/**
 * `node scripts/write/render-kubernetes.ts`: renders the Kustomize base in deploy/kubernetes from the Helm chart. Needs Go.
 */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CHART, createReader } from '../parts/kubernetes/kubernetes.ts';
import { renderBase } from '../parts/kubernetes/render-base.ts';

const reader = await createReader('v1.37.2');
const file = resolve(import.meta.dirname, '../../deploy/kubernetes/faultline.yaml');
await writeFile(file, await renderBase(reader, CHART));
