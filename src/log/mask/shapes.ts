import { ASSIGNED_LITERALS, findAssigned } from './assigned.ts';
import { COMMAND_LITERALS, DOCKER_LITERALS, findDockerAuth, findInCommands } from './commands.ts';
import { ADDRESS_LITERALS, findAddresses, findHeaders, HEADER_LITERALS } from './headers.ts';
import { ENCODED_KEY_LITERALS, findEncodedKeys } from './key-blocks.ts';
import type { Span } from './span.ts';
import { findModelKeys, findTokens, findWebhooks, MODEL_KEY_LITERALS, TOKEN_LITERALS, WEBHOOK_LITERALS } from './tokens.ts';

/** A kind of secret: literals without which no line holds one, and what finds them in a line. */
export interface Shape {
  readonly literals: readonly string[];
  readonly find: (line: string) => Span[];
}

/** Every kind that one line is enough to see. Literals are lower case and match in any case. */
export const SHAPES: readonly Shape[] = [
  { literals: TOKEN_LITERALS, find: findTokens },
  { literals: MODEL_KEY_LITERALS, find: findModelKeys },
  { literals: ASSIGNED_LITERALS, find: findAssigned },
  { literals: ADDRESS_LITERALS, find: findAddresses },
  { literals: HEADER_LITERALS, find: findHeaders },
  { literals: COMMAND_LITERALS, find: findInCommands },
  { literals: DOCKER_LITERALS, find: findDockerAuth },
  { literals: WEBHOOK_LITERALS, find: findWebhooks },
  { literals: ENCODED_KEY_LITERALS, find: findEncodedKeys },
];

/** The secrets in a line whose literals are known; bit n of `groups` stands for `SHAPES[n]`. */
export function findShapes(line: string, groups: number): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < SHAPES.length; at++) if ((groups & (1 << at)) !== 0) spans.push(...(SHAPES[at]?.find(line) ?? []));
  return spans;
}
