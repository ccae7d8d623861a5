import type { ToolCall } from '../../../domain/evidence.ts';
import type { ToolDescription } from '../../../ports/toolbox.ts';
import { CorrectReply } from './replies.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON schema of mended arguments for one tool, or null. */
export function correctionSchema(tool: ToolDescription): JsonSchema {
  return closed({ why: { type: 'string' }, args: { anyOf: [argumentsSchema(tool), { type: 'null' }] } });
}

/** The call with mended arguments; null where the model sees none, or gave the refused ones again. */
export function parseCorrection(reply: unknown, call: ToolCall): ToolCall | null {
  const { args, why } = CorrectReply.parse(reply);
  if (args === null) return null;
  const mended = withoutNulls(args);
  return sameArgs(mended, call.args) ? null : { tool: call.tool, args: mended, why: why === '' ? call.why : why };
}

/** A tool without arguments may describe them as nothing at all. */
function argumentsSchema(tool: ToolDescription): JsonSchema {
  return { type: 'object', ...tool.parameters };
}

/** Strict schemas make models fill optional arguments with null. */
function withoutNulls(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function sameArgs(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
  const key = (args: Readonly<Record<string, unknown>>) =>
    JSON.stringify(Object.entries(args).sort(([one], [two]) => (one < two ? -1 : 1)));
  return key(left) === key(right);
}

function closed(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
