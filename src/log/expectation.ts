/** What a test wanted and what it got, where its message shows both. */
export interface Expectation {
  readonly expected: string | null;
  readonly actual: string | null;
}

const SHAPES: readonly RegExp[] = [
  /expected:? ?<(?<expected>[^\n]{0,420}?)> but was:? ?<(?<actual>[^\n]{0,420}?)>/i,
  /expected \[(?<expected>[^\n]{0,420}?)\] but (?:found|was) \[(?<actual>[^\n]{0,420}?)\]/i,
  /Expected:? (?<expected>[^\n]{1,500})\n[^\n]{0,20}(?:Received|Actual|but was|but got|Got):? +(?<actual>[^\n]{1,500})/i,
  /expected (?<actual>[^\n]{1,300}?) to (?:deeply |strictly )?(?:equal|be|eql|match)(?: to)? (?<expected>[^\n]{1,300})/i,
  /assert (?<actual>[^\n]{1,300}?) == (?<expected>[^\n]{1,300})/,
  /(?:AssertionError: )(?<actual>[^\n]{1,300}?) != (?<expected>[^\n]{1,300}?)(?: : |\n|$)/,
  /left: `?(?<actual>[^\n`]{1,300})`?,?\n\s{0,20}right: `?(?<expected>[^\n`]{1,300})/,
  /\bgot:? {1,20}(?<actual>[^\n]{1,300})\n\s{0,40}want(?:ed)?:? {1,20}(?<expected>[^\n]{1,300})/i,
  /\bwant(?:ed)?:? {1,20}(?<expected>[^\n]{1,300})\n\s{0,40}got:? {1,20}(?<actual>[^\n]{1,300})/i,
  /(?:=|\b)\s?got (?<actual>[^\n;]{1,200}?)[,;] want(?:ed)? (?<expected>[^\n]{1,200})/i,
  /\bgot:? {1,20}(?<actual>[^\n]{1,300})\n\s{0,40}expected:? {1,20}(?<expected>[^\n]{1,300})/i,
  /expected:? (?<expected>[^\n]{1,300}?),? (?:but )?(?:got|was|found|actual):? (?<actual>[^\n]{1,300})/i,
];

/** Finds an expectation in a failure message. Both null where it shows none. */
export function splitExpectation(text: string): Expectation {
  const head = text.slice(0, 2_000);
  for (const shape of SHAPES) {
    const groups = shape.exec(head)?.groups;
    if (groups !== undefined) return { expected: groups.expected?.trim() ?? null, actual: groups.actual?.trim() ?? null };
  }
  return { expected: null, actual: null };
}
