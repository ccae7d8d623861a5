/**
 * Patterns for values that tools of all kinds print in the same words. Their groups are slots. They are tried
 * only on the paragraph.
 */
export const SHARED_PATTERNS: readonly RegExp[] = [
  // What is required and what was found
  /(?<tool>[A-Z][\w.+-]{1,30}) (?:version )?(?<found>v?\d[\w.+-]{0,30}) (?:is (?:not supported|too old|unsupported)|detected|found)/,
  /\b(?:requires?|needs?|expected|must be) (?:at least |version )?(?<required>(?:[<>=^~]{1,2} ?)?v?\d{1,6}\.[\w.+*-]{1,30}(?: or (?:newer|later|higher))?)/i,
  /\b(?:found|got|running|actual|current(?: version)?(?: is)?|but (?:it )?(?:is|was|has)|installed):? {0,4}v?(?<found>\d+(?:\.\d[\w.+-]{0,30}){1,4})/i,
  // What is available instead
  /\((?:from versions: (?:[^)\n]{0,1900}, )?)(?<nearest>\d[\w.+-]{0,40})\)/,
  /\bNearest version: (?<nearest>[\w.+-]{1,40})/,
  /candidate versions? found which didn't match: (?<nearest>[\w.+-]{1,40})/,
  // The build script, which Gradle names above the error
  /^(?:Build|Settings|Initialization) (?:file|script) '(?<buildScript>[^'\n]{1,200})' line: (?<buildLine>\d{1,6})/,
  // A missing name
  /no such file or directory[,:]? (?:\w{1,10} )?['"‘`](?<path>[^'"’`\n]{1,200})['"’`]/i,
  /['"‘`(]?(?<path>(?:\.{0,2}\/)?[\w@.+-]{1,80}(?:(?:\/[\w@.+-]{1,80}){1,12}\/?|\/))['"’`)]?:? (?:no such file|does not exist|not found|was not found|No such file)/i,
  /\b(?<variable>[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,40}){1,6})\b/,
  /\b(?:HTTP(?:\/[\d.]{1,3})?|status(?: code)?:?|code:?|returned error:|error:?|response:?) (?<status>[45]\d\d)\b/i,
  /\b(?<status>[45]\d\d) (?:Unauthorized|Forbidden|Not Found|Too Many Requests|Bad Gateway|Service Unavailable|Internal Server Error|Gateway Time-?out)\b/i,
];
