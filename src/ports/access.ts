import type { Principal } from '../domain/review.ts';

/** Somebody else's sign-in, which says who is there. */
export interface SignInProvider {
  /** For people: "id.example.com". */
  readonly name: string;
  /**
   * Where to send the browser, and what it must bring back: `secrets` are for the same browser's eyes only. Throws `upstream-failed`.
   */
  begin(callback: string, signal: AbortSignal): Promise<{ readonly address: string; readonly secrets: string }>;
  /**
   * Who came back to `callback`. Throws `unauthenticated` where the answer is not one to these secrets, `forbidden` where whoever it is may
   * do nothing here, and `upstream-failed`.
   */
  finish(callback: string, query: string, secrets: string, signal: AbortSignal): Promise<Principal>;
}
