import { installKnown } from '../known-packages.ts';
import { isOwnHeader } from '../line-facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';
import { MISSING_PROGRAM } from './missing-program.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/** Rules for missing headers, libraries and programs of a build. */
export const LIBRARY_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
  'header-missing': {
    kind: 'missing_module',
    strength: 4.4,
    patterns: [
      /fatal error: '?[\w./+-]{1,160}\.h(?:pp|h|xx)?'?(?:: No such file| file not found)/,
      /gcc: [\w./+-]{1,160}\.h(?:pp)?: No such file/,
    ],
    when: (fact, facts) => !isOwnHeader(fact.text, facts),
    reads: [/(?:fatal error|gcc): '?(?<header>[\w./+-]{1,160}\.h(?:pp|h|xx)?)\b/],
    title: 'The header {header} is missing',
    cause: [
      '{place} includes {header}, which no installed package provides.',
      'The code includes {header}, which no installed package provides.',
    ],
    fix: [
      ['configuration', installKnown('header')],
      ['configuration', 'Install the development package that provides {header} in an earlier step.'],
    ],
    outranks: [...GENERIC_COMPILE, 'c-compile-error', 'path-missing'],
    matches: ['src/scales.c:4:10: fatal error: pear.h: No such file or directory'],
    ignores: ['checking for pear.h... no', '-- Looking for pear.h - not found'],
    says: [
      {
        log: 'src/scales.c:4:10: fatal error: ffi.h: No such file or directory',
        title: 'The header ffi.h is missing',
        cause: 'src/scales.c:4 includes ffi.h, which no installed package provides.',
        fix: 'Install libffi-dev (on Debian and Ubuntu) in an earlier step, because it provides ffi.h.',
      },
    ],
  },
  'language-module-missing': {
    kind: 'missing_module',
    strength: 4.5,
    patterns: [
      /Can't locate \S{1,160}\.pm in @INC/,
      /cannot load such file -- (?!\.|\/)/,
      /Could not find module [`‘']/,
      /can't find crate for `/,
      /module '[\w.-]{1,80}' not found:/,
      /Class '[\w\\]{1,120}' not found/,
      /Typelib file for namespace .{1,120}not found/,
      /Namespace \w{1,60} not available/,
      /Package `[\w.+-]{1,80}' not found in specified/,
      /Unknown module\(s\) in QT/,
      /cannot find package "[\w./-]{1,200}"/,
      /Library "[\w.-]{1,80}" not found/,
      /^(?:error: )?Missing (?:build )?dependenc(?:y|ies)(?:$|:)/,
      /Could not find (?:a )?(?:gem|plugin|theme)/,
      /Unable to (?:find|load) plugin|Local (?:grunt|gulp) not found|no theme named/,
    ],
    reads: [
      /you may need to install the (?<perl>[\w:]{1,100}) module/,
      /cannot load such file -- (?<ruby>[\w/-]{1,100})/,
      /can't find crate for `(?<std>std|core)`/,
      /the `(?<target>[\w.-]{3,60})` target may not be installed/,
      /can't find crate for `(?<crate>[^`\n]{1,80})`/,
      /Could not find module [`‘'](?<haskell>[\w.]{1,100})/,
      /cannot find package "(?<goPackage>[\w./-]{1,200})"/,
    ],
    title: [
      'The Perl module {perl} is not installed',
      'Ruby cannot load {ruby}',
      '{std?}The Rust target {target} is not installed',
      'The crate {crate} is missing',
      'The Haskell module {haskell} is missing',
      'Go cannot find the package {goPackage}',
    ],
    cause: [
      'The build needs the Perl module {perl}, which is not installed.',
      'The program requires {ruby}, but no installed gem provides it.',
      '{std?}The build compiles for {target}, whose standard library is not installed.',
      'The code uses the crate {crate}, which is not available to the build.',
      'The code imports {haskell}, but no package that the project depends on provides it.',
    ],
    fix: [
      [
        'configuration',
        'Install the Perl module {perl} in an earlier step (`cpanm {perl}` or its system package).',
      ],
      ['configuration', '{std?}Run `rustup target add {target}` in the job before the build.'],
      ['dependency', 'Declare and install the gem that provides {ruby}.'],
      ['dependency', 'Add {crate} to the dependencies (`cargo add {crate}`), or correct its name.'],
      ['dependency', 'Run `go get {goPackage}` and commit go.mod and go.sum, or correct the import.'],
    ],
    matches: ["Can't locate Fruit/Pear.pm in @INC (you may need to install the Fruit::Pear module)"],
    ignores: [
      'Missing dependencies are installed now',
      "E       fixture 'pear' not found",
      "ok 4 - plugin pear can't be found",
    ],
    says: [
      {
        log: "error[E0463]: can't find crate for `std`\n  = note: the `wasm32-unknown-unknown` target may not be installed",
        fix: 'Run `rustup target add wasm32-unknown-unknown` in the job before the build.',
      },
      {
        log: "Can't locate Fruit/Pear.pm in @INC (you may need to install the Fruit::Pear module)",
        title: 'The Perl module Fruit::Pear is not installed',
      },
      {
        log: "scales.rb:1:in `require': cannot load such file -- pear (LoadError)",
        fix: 'Declare and install the gem that provides pear.',
      },
      {
        log: "error[E0463]: can't find crate for `pear`",
        fix: 'Add pear to the dependencies (`cargo add pear`), or correct its name.',
      },
      {
        log: 'scales.go:4:2: cannot find package "orchard.example/pear" in any of:',
        fix: 'Run `go get orchard.example/pear` and commit go.mod and go.sum, or correct the import.',
      },
    ],
  },
  'build-program-missing': {
    kind: 'dependency_install',
    strength: 4.7,
    patterns: [
      /^(?:\/bin\/sh: (?:line )?|sh: )(?:\d{1,5}: )?[\w.+-]{1,60}: (?:command )?not found$/,
      /^make(?:\[\d{1,3}\])?: (?!\.)[\w.+-]{1,60}: (?:Command not found|No such file or directory)/,
      /(?:rpm-tmp\.|\/debian\/|ylwrap|configure|autogen|libtool)[\w./-]{0,200}:? (?:line )?\d{1,6}: [\w.+-]{1,60}: (?:command )?not fou(?:nd?)?\b/,
      /must be installed (?:to build|in order to)/,
      /possibly undefined macro: A[CMX]_/,
      /required file '\.\/(?:ltmain\.sh|compile|config\.\w{3,5})' not found/,
      /Program '?[\w.+-]{1,60}'? (?:not found|found: NO)/,
      /Program\(s\) \[.{1,120}\] not found/,
      /Can't exec "[\w.+-]{1,60}": No such file/,
      /Could not find (?:the )?(?:program|executable|command) /,
      /configure: error: .{0,80}(?:is required|needed|not found)/,
    ],
    ...MISSING_PROGRAM,
    outranks: ['command-not-found', 'path-missing', 'exit-by-signal'],
    matches: ['/bin/sh: 1: bison: not found'],
    ignores: ['checking for bison... no', 'Program bison found: YES (/usr/bin/bison)'],
    says: [
      {
        log: '/bin/sh: 1: bison: not found',
        title: 'The command bison is not installed in the job',
        fix: 'Install bison in an earlier step of the job, or use an image that has it.',
      },
    ],
  },
  'library-not-found': {
    kind: 'dependency_install',
    strength: 4.4,
    patterns: [
      /Dependency "?\S{1,80}"? ?(?:not found|found: NO)/,
      /dependency \S{1,80} found: NO/,
      /Package '?\S{1,80}'?,? (?:required by .{1,80})?,? ?(?:was )?not found/,
      /No package '\S{1,80}' found/,
      /Could not find a package configuration file/,
      /[Cc]ould (?:not|NOT) find (?!method|file|property|setting|a part|Chrome|artifact)\S{1,60}(?: \(|$)/,
      /Package requirements \(.{1,200}\) were not met/,
      /configure: error:/,
      /cannot find -l/,
      /Unable to find the /,
      /not found in the pkg-config/,
      /Problem encountered: Tests? requires? \S/,
      /^(?!KVM)[\w.+-]{1,40} is not available$/,
      /Did not find (?:CMake|pkg-config)/,
      /pdflatex.{0,40}(?:not found|missing|No such)/,
      /library .{1,60} (?:is )?not found/,
    ],
    reads: [
      /provided by "(?<name>[^"\n]{1,80})"/,
      /Could NOT find (?<name>[\w.+-]{1,60}) \(/,
      /Package requirements \((?<name>[\w.+-]{1,60})(?: [^)\n]{1,60})?\) were not met/,
      /No package '(?<name>[\w.+-]{1,60})' found/,
      /Package '?(?<name>[\w.+-]{1,60})'?,? (?:required by .{1,80}, )?(?:was )?not found/,
      /[Dd]ependency "?(?<name>[\w.+-]{1,60})"? ?(?:not found|found: NO)/,
      /cannot find -l(?<linked>[\w.+-]{1,60})/,
    ],
    title: ['The linker cannot find the library {linked}', 'The build cannot find the library {name}'],
    cause: [
      '{place} looks for {name}, but nothing on the machine provides it.',
      'The linker was told to link {linked}, but that library is not on the machine.',
      'The build looks for {name}, but nothing on the machine provides it.',
    ],
    fix: [
      ['configuration', installKnown('name')],
      ['configuration', installKnown('linked')],
      ['configuration', 'Install the development package for {name} in an earlier step.'],
      [
        'configuration',
        'Install the development package for {linked} in an earlier step, or add its folder to the ' +
          "linker's search path.",
      ],
    ],
    matches: ['CMake Error: Could NOT find Pear (missing: PEAR_LIBRARY)', '/usr/bin/ld: cannot find -lpear'],
    ignores: [
      'KVM is not available',
      '-- Could NOT find Pear (missing: PEAR_LIBRARY), using the bundled one: fallback',
      'checking for libpear... no',
      'Please install pears with care, warning: none',
    ],
    says: [
      {
        log: 'configure: error: Package requirements (libxml-2.0 >= 2.9.0) were not met:',
        title: 'The build cannot find the library libxml-2.0',
        fix: 'Install libxml2-dev (on Debian and Ubuntu) in an earlier step, because it provides libxml-2.0.',
      },
      { log: '/usr/bin/ld: cannot find -lpear', title: 'The linker cannot find the library pear' },
    ],
  },
  'shared-library-missing': {
    kind: 'version_conflict',
    strength: 4.8,
    patterns: [
      /cannot open shared object file/,
      /symbol lookup error|DLL load failed|wrong ELF class|invalid ELF header|Library not loaded: /,
      /version `(?:GLIBC|GLIBCXX|CXXABI)_[\d.]{1,10}' not found/,
      /(?:\.so[.\d]{0,12}|python\S{0,20}|ImportError).{0,80}undefined symbol: /,
      /NODE_MODULE_VERSION \d{1,4}\. This version of Node\.js requires/,
      /was compiled against a different Node/,
    ],
    reads: [
      /(?<so>lib[\w.+-]{1,80}\.so(?:\.\d{1,4}){0,4}): cannot open shared object file/,
      /version `(?<abi>(?:GLIBC|GLIBCXX|CXXABI)_[\d.]{1,10})' not found(?: \(required by (?<by>[^)\n]{1,160})\))?/,
      /using\s{1,4}NODE_MODULE_VERSION (?<built>\d{1,4})/,
      /(?:requires|required)\s{1,4}NODE_MODULE_VERSION (?<needed>\d{1,4})/,
      /undefined symbol: (?<symbol>[\w@.]{1,120})/,
    ],
    title: [
      '{member} needs {runtime} {demanded} or newer',
      'The library {so} is not installed',
      '{by} needs {abi}, which this system does not have',
      'The system does not have {abi}',
      '{built?}A native module was built for another version of Node',
      'A library does not define the symbol {symbol}',
    ],
    cause: [
      "{member} needs {runtime} {demanded} or newer, but the job's system has an older version.",
      'A program needs the library {so} at startup, but no installed package provides it.',
      "{by} was built on a newer system and needs {abi}, which the job's system does not have.",
      "A native module was built for NODE_MODULE_VERSION {built}, but the job's Node needs {needed}.",
    ],
    fix: [
      [
        'configuration',
        'Run it on a system with {runtime} {demanded} or newer ({systems}), or build {member} on an ' +
          'older one.',
      ],
      ['configuration', installKnown('so')],
      [
        'configuration',
        'Install the system package that provides {so} in an earlier step, or add it to the image.',
      ],
      [
        'configuration',
        'Run the job on an image whose libraries provide {abi}, or build {by} on the older image.',
      ],
      [
        'configuration',
        "{built?}{needed?}Run `npm rebuild` with the job's Node version, and do not restore node_modules " +
          'from another version.',
      ],
    ],
    matches: [
      './scales: error while loading shared libraries: libpear.so.1: cannot open shared object file: No ' +
        'such file or directory',
    ],
    ignores: ['NODE_MODULE_VERSION: 127', 'libpear.so.1 => /usr/lib/libpear.so.1'],
    says: [
      {
        log: 'ImportError: libGL.so.1: cannot open shared object file: No such file or directory',
        title: 'The library libGL.so.1 is not installed',
        fix: 'Install libgl1 (on Debian and Ubuntu) in an earlier step, because it provides libGL.so.1.',
      },
    ],
  },
  'system-library-missing': {
    category: 'CONFIG_ERROR',
    kind: 'environment',
    strength: 5,
    patterns: [
      /The system library `\S{1,80}` required by crate `\S{1,80}` was not found/,
      /Could not find directory of OpenSSL installation/,
      /(?:pg_config|mysql_config|krb5-config|gdal-config|xml2-config) (?:executable )?(?:is )?not found|(?:mysql|pg)_config: (?:command )?not found/,
      /fatal error: (?:Python|ffi|openssl\/\w{1,20}|libpq-fe|mysql|zlib|sqlite3|ruby|lber|sasl\/\w{1,20}|libxml\/\w{1,20})\.h: No such file/,
      /Failed to find `\S{1,60}`.{0,80}pkg-config/,
    ],
    reads: [
      /The system library `(?<library>[^`\n]{1,80})` required by crate `(?<dependency>[^`\n]{1,80})` was not found/,
      /Could not find directory of (?<library>OpenSSL) installation/,
      /fatal error: (?<header>[\w/.-]{1,60}\.h): No such file/,
      /(?<library>\w{2,20})[_-]config (?:executable )?(?:is )?not found/,
      /failed to run custom build command for `(?<dependency>[\w-]{1,80}) v/,
      /Failed building wheel for (?<dependency>[\w.-]{1,80})/,
    ],
    title: [
      '{dependency} needs the system library {library}',
      'The system library {library} is missing',
      'The header {header} is missing',
    ],
    cause: [
      'Building {dependency} requires the system library {library} with its headers, but the job did not ' +
        'install it.',
      'A dependency requires the system library {library} with its headers, but the job did not install it.',
      'Building {dependency} requires the header {header}, but the job did not install the package that ' +
        'provides it.',
      'A dependency requires the header {header}, but the job did not install the package that provides it.',
    ],
    fix: [
      [
        'configuration',
        'Install the development package for {library} in an earlier step of the job, because ' +
          '{dependency} is built against it.',
      ],
      ['configuration', 'Install the development package for {library} in an earlier step of the job.'],
      ['configuration', 'Install the system package that provides {header} in an earlier step of the job.'],
    ],
    outranks: [
      ...GENERIC_COMPILE,
      'package-build-failed',
      'library-not-found',
      'header-missing',
      'c-compile-error',
      'rust-compile-error',
    ],
    matches: ['  The system library `pear-2.0` required by crate `pear-sys` was not found.'],
    ignores: ['The system library `pear-2.0` required by crate `pear-sys` was found.'],
    says: [
      {
        log: [
          'error: failed to run custom build command for `pear-sys v0.4.0`',
          'Caused by:',
          '  --- stderr',
          '  The system library `pear-2.0` required by crate `pear-sys` was not found.',
        ].join('\n'),
        title: 'pear-sys needs the system library pear-2.0',
        fix:
          'Install the development package for pear-2.0 in an earlier step of the job, because pear-sys ' +
          'is built against it.',
      },
    ],
  },
});
