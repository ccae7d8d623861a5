import { diagnosticExtractor } from './diagnostics.ts';

/** swiftc, xcodebuild (signing among it), what prettifies it, Swift packages. */
export const xcode = diagnosticExtractor(
  'swift',
  [
    '.swift:',
    ' failed **',
    'xcodebuild: error',
    'the following build commands failed',
    'provisioning profile',
    'no signing certificate',
    'requires a development team',
    'code signing',
    'with a nonzero exit code',
    'error: dependencies could not be resolved',
    '.xcodeproj: error',
  ],
  [
    {
      tool: 'packages',
      pattern: /^(?<file>[^\s:()]{1,250}\.swift):(?<line>\d{1,7}):(?<column>\d{1,5}): error: (?<message>no such module .{1,200})/,
    },
    {
      pattern:
        /^(?:❌\s{1,4}|\[x\] )?(?<file>[^\s:()]{1,250}\.swift):(?<line>\d{1,7}):(?<column>\d{1,5}): (?:(?<severity>error|warning|note): ?)?(?<message>.{1,400})/,
      belongs: (line) => /^\s{1,200}\S/.test(line),
    },
    {
      pattern: /^(?<message>\*\* (?:BUILD|ARCHIVE|TEST|CLEAN|EXPORT|INSTALL|TEST BUILD|TEST EXECUTE) FAILED \*\*)/,
      weight: 56,
      pointer: true,
      belongs: (line) => /^$|^The following build commands failed|^\t/.test(line),
    },
    { pattern: /^(?<message>The following build commands failed:)/, weight: 60, pointer: true, belongs: (line) => /^\t\S/.test(line) },
    {
      tool: 'xcodebuild',
      pattern:
        /^(?:(?<file>[^\s:]{1,250}\.xcodeproj): )?(?:xcodebuild: )?error: (?<message>.{0,200}(?:provisioning profile|signing certificate|development team|code sign|Code Sign|scheme|destination|workspace|project).{0,200})/,
      weight: 80,
    },
    { tool: 'xcodebuild', pattern: /^(?<message>Command \w{1,40} failed with a nonzero exit code)/, weight: 50, pointer: true },
    { tool: 'packages', pattern: /^error: (?<message>Dependencies could not be resolved.{1,400})/, weight: 80 },
  ],
); // prettier-ignore

/** CocoaPods. */
export const cocoapods = diagnosticExtractor(
  'cocoapods',
  ['[!] cocoapods could not', '[!] unable to find', '[!] error installing', '[!] the ', '[!] invalid', '[!] no podfile'],
  [
    {
      pattern:
        /^\[!\] (?<message>(?:CocoaPods could not find|Unable to find|Error installing|The (?:platform|version|sandbox)|Invalid|No `?Podfile).{1,400})/,
      weight: 78,
      belongs: (line) => /^\s{1,20}\S|^$|^Specs satisfying|^None of your spec/.test(line),
    },
  ],
); // prettier-ignore
