import { diagnosticExtractor } from './diagnostics.ts';

const indented = (line: string) => /^\s{2,200}\S|^$/.test(line) && line.length < 400;

/** Bundler, RubyGems and rake. */
export const bundler = diagnosticExtractor(
  'bundler',
  [
    'bundler could not',
    'could not find gem',
    'in any of the sources',
    'in locally installed gems',
    'and bundler cannot continue',
    'failed to build gem native extension',
    'your ruby version is',
    'could not find a valid gem',
    'you must use bundler',
    'bundler: failed to load',
    'because every version of',
    'rake aborted',
    'your bundle is locked to',
    'in rubygems repository',
  ],
  [
    {
      pattern:
        /^(?<message>Bundler could not find compatible versions.{0,200}|Could not find .{1,200} in (?:any of the sources|locally installed gems|rubygems repository).{0,200}|Could not find gem .{1,300}|Your bundle is locked to .{1,300})/,
      weight: 80,
      belongs: indented,
    },
    {
      pattern: /^(?<message>Because (?:every version of|\S{1,80} (?:>=|<|=|depends)).{1,400})/,
      weight: 78,
      belongs: (line) => /^\s{1,8}\S|^(?:So|And)[, ]/.test(line),
    },
    {
      pattern: /^(?<message>An error occurred while installing .{1,200}|Your Ruby version is .{1,200}|You must use Bundler .{1,200})/,
      weight: 78,
    },
    {
      pattern:
        /^ERROR: {1,2}(?<message>(?:Could not find a valid gem|Failed to build gem native extension|While executing gem|Error installing).{0,300})/,
      weight: 78,
      belongs: indented,
    },
    { pattern: /^(?<message>Gem::Ext::BuildError: .{1,200}|bundler: failed to load command: .{1,200})/, weight: 66, belongs: indented },
    {
      tool: 'rake',
      pattern: /^(?<message>rake aborted!)/,
      weight: 72,
      belongs: (line) => line.length > 0 && !/^\(See full/.test(line),
      messageBelow: (line) => (/\S/.test(line) ? line : null),
    },
  ],
); // prettier-ignore

/** RuboCop and Ruby's own syntax errors. */
export const rubocop = diagnosticExtractor(
  'rubocop',
  ['.rb:', '.rake:', '.gemspec:', 'gemfile:', 'rakefile:'],
  [
    {
      pattern:
        /^(?<file>[^\s:]{1,250}):(?<line>\d{1,7}):(?<column>\d{1,5}): (?<severity>[CRWEFI]): (?:\[\w{1,20}\] )?(?:(?<code>[A-Z]\w{1,40}(?:\/\w{1,60}){1,3}): )?(?<message>.{1,400})/,
      severity: 'error',
      weight: 76,
      belongs: (line) => /^\s{1,200}\S|^$/.test(line) && line.length < 300,
    },
    {
      tool: 'ruby',
      pattern: /^(?<file>[^\s:]{1,250}\.rb):(?<line>\d{1,7}): (?<message>syntax errors?.{0,300})/,
      weight: 80,
      belongs: (line) => /^\s{0,4}(?:>?\s{0,4}\d{1,6} \||\|)|^\s{1,20}\S/.test(line),
    },
  ],
); // prettier-ignore
