import { z } from 'zod';
import type { ToolCall } from '../domain/evidence.ts';
import type { TriageSubject } from '../domain/triage.ts';
import type { ToolDescription } from '../ports/toolbox.ts';
import { argumentsFor } from './tool-arguments.ts';

const Property = z.looseObject({
  type: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
});
const Parameters = z.looseObject({ properties: z.record(z.string(), Property).default({}), required: z.array(z.string()).default([]) });

/** Mends arguments that are of the wrong type, out of bounds, unknown or missing; null where that makes no difference. */
export function mendCall(call: ToolCall, tool: ToolDescription, subject: TriageSubject): ToolCall | null {
  const schema = Parameters.safeParse(tool.parameters);
  if (!schema.success) return null;
  const { properties, required } = schema.data;
  const known = argumentsFor(tool.name, subject) ?? {};
  const args: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const given = call.args[name] ?? (required.includes(name) ? known[name] : undefined);
    const value = given === undefined || given === null ? undefined : fitValue(given, property);
    if (value !== undefined) args[name] = value;
    else if (required.includes(name)) {
      const fallback = known[name];
      if (fallback === undefined) return null;
      args[name] = fallback;
    }
  }
  orderLines(args);
  return JSON.stringify(sorted(args)) === JSON.stringify(sorted(call.args)) ? null : { ...call, args };
}

function fitValue(value: unknown, property: z.infer<typeof Property>): unknown {
  if (property.type === 'integer' || property.type === 'number') {
    const number = typeof value === 'number' ? value : Number(typeof value === 'string' ? value.trim() : Number.NaN);
    if (!Number.isFinite(number)) return undefined;
    const bounded = Math.min(property.maximum ?? number, Math.max(property.minimum ?? number, number));
    return property.type === 'integer' ? Math.round(bounded) : bounded;
  }
  if (property.type === 'string') {
    if (typeof value === 'object') return undefined;
    const text = String(value);
    return property.maxLength === undefined ? text : text.slice(0, property.maxLength);
  }
  return value;
}

function orderLines(args: Record<string, unknown>): void {
  const { lineStart, lineEnd } = args;
  if (typeof lineStart === 'number' && typeof lineEnd === 'number' && lineStart > lineEnd) {
    args.lineStart = lineEnd;
    args.lineEnd = lineStart;
  }
}

function sorted(args: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(args).sort(([left], [right]) => (left < right ? -1 : 1));
}
