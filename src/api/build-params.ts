import { z } from 'zod';

/** The build that the path of a route names. */
export const BuildParams = z.object({
  id: z
    .string()
    .min(1)
    .max(1000)
    .describe(
      'Our id, `provider:number` with the number or the run id (`github:812`, ' +
        '`github:shop/api#812`), or the URL of the build at its CI',
    ),
});
