/** The protocol's code for a resource that is not there. */
export const RESOURCE_NOT_FOUND = -32002;

/** A refusal as JSON-RPC tells it; the protocol's own class writes its code into the message, once on each side. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
