import type { Principal } from '../domain/review.ts';

/** An external identity provider that signs users in. */
export interface SignInProvider {
  /** The display name: "id.example.com". */
  readonly name: string;
  /** The URL of the issuer of identities. */
  readonly issuer: string;
  /**
   * Starts a sign-in. Returns the address to which the browser is sent, and the secrets that the same browser
   * must bring back. No other client may see them. `scopes` are asked for in addition to those of a sign-in.
   * Throws `upstream-failed`.
   */
  begin(
    callback: string,
    signal: AbortSignal,
    scopes?: string,
  ): Promise<{ readonly address: string; readonly secrets: string }>;
  /**
   * Returns the principal that came back to `callback`. Throws `unauthenticated` if the response does not
   * match the secrets, `forbidden` if the user has no rights here, and `upstream-failed`.
   */
  finish(callback: string, query: string, secrets: string, signal: AbortSignal): Promise<Principal>;
  /** Returns the access that the user granted instead. Throws as `finish` does. */
  redeem(callback: string, query: string, secrets: string, signal: AbortSignal): Promise<Grant>;
}

/** Access to a host in the name of a user who granted it. */
export interface Grant {
  readonly token: string;
  /** Gives the access back, if the host has a way to do that. Never throws. */
  end(): Promise<void>;
}
