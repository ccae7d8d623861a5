import type { Principal } from '../domain/review.ts';

/** An external identity provider that signs users in. */
export interface SignInProvider {
  /** The display name: "id.example.com". */
  readonly name: string;
  /**
   * Starts a sign-in. Returns the address to which the browser is sent, and the secrets that the same browser
   * must bring back. No other client may see them. Throws `upstream-failed`.
   */
  begin(
    callback: string,
    signal: AbortSignal,
  ): Promise<{ readonly address: string; readonly secrets: string }>;
  /**
   * Returns the principal that came back to `callback`. Throws `unauthenticated` if the response does not
   * match the secrets, `forbidden` if the user has no rights here, and `upstream-failed`.
   */
  finish(callback: string, query: string, secrets: string, signal: AbortSignal): Promise<Principal>;
}
