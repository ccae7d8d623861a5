const PASSING =
  /^\s{0,40}(?:ok \d|[✓√✔]|PASS(?:ED)?\b|--- PASS|\[ {2,7}OK \]|\[\+\]|\[OK\])|[✓√✔] |\bPASS(?:ED)?\b(?:\s{0,20}\[ {0,3}\d{1,3}%\])?.{0,12}$|\.{2,3} ?(?:ok|OK|passed|PASSED|yes|no|done)\b.{0,16}$|: (?:ok|OK|PASSED)$/;

/** Whether a line reports a test or check that passed: its name is no evidence, whatever it says. */
export function isPassing(line: string): boolean {
  return PASSING.test(line);
}
