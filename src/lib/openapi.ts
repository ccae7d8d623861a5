interface Operation {
  readonly tags: string[];
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
}

/** Creates the OpenAPI description of a route. */
export function describeOperation(
  tag: string,
  operationId: string,
  summary: string,
  description?: string,
): Operation {
  return { tags: [tag], operationId, summary, ...(description === undefined ? {} : { description }) };
}
