import { expect, test } from 'vitest';
import { z } from 'zod';
import { toStrictSchema } from '../../../src/models/chat/tool-format.ts';

test('limits that strict schemas cannot express are stated in words', () => {
  const parameters = z.strictObject({
    limit: z.int().min(1).max(20).default(20),
    context: z.int().min(0).max(5).describe('Lines on either side'),
    text: z.string().max(200),
    line: z.int().min(1),
    any: z.int(),
  });
  const { properties } = toStrictSchema(z.toJSONSchema(parameters, { io: 'input' })) as {
    properties: Record<string, { description?: string }>;
  };
  expect(
    Object.fromEntries(Object.entries(properties).map(([name, { description }]) => [name, description])),
  ).toEqual({
    limit: '1 to 20',
    context: 'Lines on either side (0 to 5)',
    text: 'at most 200 characters',
    line: 'at least 1',
    any: undefined,
  });
});
