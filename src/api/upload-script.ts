import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { describeOperation } from '../lib/openapi.ts';
import type { ApiApp } from './route.ts';

const SCRIPT = join(import.meta.dirname, 'faultline-upload.sh');
const TYPE = 'text/x-shellscript';

/** Registers the script with which a job of any CI uploads its build, also one whose checkout failed. */
export function registerUploadScript(app: ApiApp): void {
  app.get(
    '/faultline-upload',
    {
      config: { access: { open: 'a job fetches it before it has anything else; it holds no data' } },
      schema: {
        ...describeOperation('Builds', 'getUploadScript', 'The script that uploads a build from any CI'),
        response: { 200: { description: 'The script', content: { [TYPE]: { schema: z.string() } } } },
      },
    },
    async (_request, reply) => reply.type(`${TYPE}; charset=utf-8`).send(await readFile(SCRIPT, 'utf8')),
  );
}
