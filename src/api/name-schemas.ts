import { z } from 'zod';
import * as access from '../domain/access.ts';
import * as analysis from '../domain/analysis.ts';
import * as build from '../domain/build.ts';
import * as category from '../domain/category.ts';
import * as cause from '../domain/cause.ts';
import * as conversation from '../domain/conversation.ts';
import * as environment from '../domain/environment.ts';
import * as evidence from '../domain/evidence.ts';
import * as experiment from '../domain/experiment.ts';
import * as failure from '../domain/failure.ts';
import * as health from '../domain/health.ts';
import * as library from '../domain/library.ts';
import * as rule from '../domain/notification-rule.ts';
import * as reading from '../domain/reading.ts';
import * as review from '../domain/review.ts';
import * as triage from '../domain/triage.ts';
import * as trust from '../domain/trust.ts';
import * as whose from '../domain/whose.ts';
import * as flaky from '../service/answers/flaky.ts';
import * as outcomes from '../service/answers/outcomes.ts';
import * as trace from '../service/answers/trace.ts';
import * as answers from '../service/answers/views.ts';
import * as threads from '../service/ask/views.ts';
import * as reviews from '../service/review/views.ts';
import { BuildReceived, DeliveryAccepted } from './answers.ts';

/** A part of the description, as JSON. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** The keyword that holds the name of a schema until it has become a component. */
const NAME = 'x-component';

/** Modules whose schemas have the names of their types. */
const NAMED = [
  access,
  analysis,
  build,
  category,
  cause,
  conversation,
  environment,
  evidence,
  experiment,
  failure,
  health,
  library,
  reading,
  review,
  triage,
  trust,
  whose,
  answers,
  flaky,
  outcomes,
  trace,
  threads,
  reviews,
].flatMap((module) => Object.entries<unknown>(module));

/** The names of schemas. */
const NAMES: ReadonlyMap<unknown, string> = new Map<unknown, string>(
  [
    ...NAMED,
    ['NotificationRule', rule.NotificationRule],
    ['BuildReceived', BuildReceived],
    ['DeliveryAccepted', DeliveryAccepted],
  ].flatMap(([name, schema]) =>
    schema instanceof z.ZodObject || schema instanceof z.ZodEnum ? [[schema, String(name)]] : [],
  ),
);

/** Marks a schema that has a name, while it is converted to JSON. */
export function markSchema({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: unknown;
  readonly jsonSchema: object;
}): void {
  const name = NAMES.get(zodSchema);
  if (name !== undefined) Object.assign(jsonSchema, { [NAME]: name });
}

/**
 * Moves the schemas of a described API that have a name to its components, and names the bodies of each
 * operation after it. A schema that requests may send in another form than answers have it gets the ending
 * `Input`. Changes the paths in place and returns the components.
 */
export function moveSchemasToComponents(paths: JsonObject): JsonObject {
  const components: JsonObject = {};
  const operations = Object.values(paths).flatMap((path) => Object.values(toObject(path)).map(toObject));
  // Answers first: they get the plain names.
  for (const { operationId, responses = {} } of operations)
    for (const [status, response] of Object.entries(toObject(responses)))
      replaceContents(
        toObject(response),
        '',
        components,
        `${operationId}${status.startsWith('2') ? 'Result' : 'Failure'}`,
      );
  for (const { operationId, requestBody = {}, parameters = [] } of operations) {
    replaceContents(toObject(requestBody), 'Input', components, `${operationId}Request`);
    if (!Array.isArray(parameters)) continue;
    for (const parameter of parameters.map(toObject))
      if (parameter.schema !== undefined)
        parameter.schema = replaceNamed(parameter.schema, 'Input', components);
  }
  return Object.fromEntries(
    Object.entries(components).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

function replaceContents(
  { content = {} }: JsonObject,
  ending: string,
  components: JsonObject,
  name: string,
): void {
  for (const [type, value] of Object.entries(toObject(content))) {
    const media = toObject(value);
    if (media.schema === undefined) continue;
    const schema = replaceNamed(media.schema, ending, components);
    const isWhole = type === 'application/json' && toObject(schema).$ref === undefined;
    media.schema = isWhole
      ? createReference(
          addComponent(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, schema, ending, components),
        )
      : schema;
  }
}

/** Replaces named schemas by references to components, the innermost first. */
function replaceNamed(value: Json, ending: string, components: JsonObject): Json {
  if (Array.isArray(value)) return value.map((item) => replaceNamed(item, ending, components));
  if (value === null || typeof value !== 'object') return value;
  const { [NAME]: name, ...rest } = value;
  const schema = Object.fromEntries(
    Object.entries(rest).map(([key, child]) => [key, replaceNamed(child, ending, components)]),
  );
  return typeof name === 'string' ? createReference(addComponent(name, schema, ending, components)) : schema;
}

/** Adds a component and returns its name. */
function addComponent(name: string, schema: Json, ending: string, components: JsonObject): string {
  const known = components[name];
  const isOther = known !== undefined && JSON.stringify(known) !== JSON.stringify(schema);
  const chosen = isOther ? `${name}${ending}` : name;
  components[chosen] ??= schema;
  return chosen;
}

function createReference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function toObject(value: Json): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}
