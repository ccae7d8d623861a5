import type { Fact, Facts } from '../facts.ts';
import { declareDistribution } from '../known-packages.ts';
import { isOwnModule, readMissingModule } from '../line-facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/** Rules for modules that are missing, or whose version is incompatible with their users. */
export const MODULE_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
  'python-module-missing': {
    kind: 'missing_module',
    strength: 4.2,
    patterns: [/No module named/, /ModuleNotFoundError/, /Could not import extension/],
    when: (fact, facts) => !isOwnModule(fact.text, facts),
    reads: [
      /No module named ['"]?(?<pythonModule>[A-Za-z]\w{0,60}(?:\.\w{1,60}){0,6})/,
      /No module named ['"]?(?<gone>distutils|imp|asyncore|asynchat|cgi|telnetlib|pipes|crypt)\b/,
    ],
    title: [
      '{ownPackage}, the package of the project itself, is not installed',
      'The Python module {pythonModule} is missing',
    ],
    cause: 'The code imports {ownPackage}, the package of the project itself, which is not installed.',
    fix: [
      [
        'configuration',
        'Install the project itself (`pip install -e .`) before this step, which imports {ownPackage}.',
      ],
      [
        'dependency',
        '{gone?}Run the job with an older Python version, or upgrade the package that imports {gone}; ' +
          'newer Python releases do not include this module.',
      ],
      ['dependency', declareDistribution],
      [
        'dependency',
        'Declare {pythonModule} as a dependency, or, if it is a module of this project, commit it and ' +
          'put its folder on the import path.',
      ],
    ],
    matches: ["ModuleNotFoundError: No module named 'pear'"],
    ignores: ['test_weigh.py::test_raises_ModuleNotFoundError PASSED'],
    says: [
      {
        log: "rootdir: /srv/fruit-press\nModuleNotFoundError: No module named 'fruit_press'",
        title: 'fruit_press, the package of the project itself, is not installed',
        fix: 'Install the project itself (`pip install -e .`) before this step, which imports fruit_press.',
      },
      {
        log: "ModuleNotFoundError: No module named 'yaml'",
        title: 'The Python module yaml is missing',
        fix: 'Add PyYAML to the requirements, because it provides the module yaml.',
      },
    ],
  },
  'node-module-missing': {
    kind: 'missing_module',
    strength: 4.2,
    patterns: [
      /Cannot find (?:module|package) '/,
      /Can't resolve '/,
      /Failed to resolve import|failed to resolve import/,
      /Could not resolve "/,
      /ERR_MODULE_NOT_FOUND/,
      /\bTS2307\b/,
    ],
    when: (fact, facts) => readMissingModule(fact.text) !== null && !isOwnModule(fact.text, facts),
    reads: [
      /Cannot find (?:module|package) '(?:[./]{0,6})(?<native>@?[\w./-]{1,80}[.-](?:linux|darwin|win32)-(?:x64|arm64)[\w-]{0,10})(?:\.node)?'/,
    ],
    title: 'The native package {native} is not installed',
    cause:
      'A package needs its platform-specific part {native}, but the install did not add it, because the ' +
      'lock file was generated on another platform.',
    fix: [
      [
        'dependency',
        'Delete the lock file and node_modules and reinstall, so that the lock file includes {native}.',
      ],
    ],
    matches: ["Error: Cannot find module 'pear'"],
    ignores: ["Resolving 'pear' from node_modules"],
    says: [
      {
        log: "Error: Cannot find module '@pear/core-linux-x64-gnu'",
        title: 'The native package @pear/core-linux-x64-gnu is not installed',
        fix:
          'Delete the lock file and node_modules and reinstall, so that the lock file includes ' +
          '@pear/core-linux-x64-gnu.',
      },
    ],
  },
  'import-name-gone': {
    kind: 'version_conflict',
    strength: 4,
    patterns: [/cannot import name/, /ImportError: /],
    when: namesPackage,
    reads: [
      /cannot import name '?(?<name>\w{1,80})'? from (?:partially initialized module )?'?(?<from>[\w.]{1,120})/,
      /(?:site|dist)-packages\/(?<importer>[\w-]{1,80})\/[^"\n:]{1,200}(?:", line \d|:\d{1,6}: in )/,
    ],
    title: [
      describeWithinPackage(({ from, name }) => `${from} does not define ${name}`),
      'The installed {from} does not have {name}, which the code imports',
    ],
    cause: [
      describeWithinPackage(
        ({ importer, from, name }) =>
          `Another module of ${importer} imports ${name} from ${from}, which does not define it. The installation of ${importer} is incomplete or mixes two versions.`,
      ),
      '{importer} imports {name} from {from}, but the installed version of {from} does not have it. The ' +
        'two versions are incompatible.',
      'The code imports {name} from {from}, but the installed version of {from} does not have it.',
    ],
    fix: [
      [
        'dependency',
        describeWithinPackage(
          ({ importer, from, name }) =>
            `Install a complete release of ${importer}; if it is built here, define ${name} in ${from} or correct the import.`,
        ),
      ],
      [
        'dependency',
        'Upgrade {importer} to a release that works with the installed {from}, or pin {from} to a ' +
          'release that still has {name}.',
      ],
      [
        'dependency',
        'Pin {from} to a release that has {name}, or import it under its name in the installed release.',
      ],
    ],
    outranks: ['test-named-as-failed'],
    matches: [
      "ImportError: cannot import name 'weigh' from 'pear' " +
        '(/venv/lib/python3.12/site-packages/pear/__init__.py)',
    ],
    ignores: [
      'ImportError: attempted relative import beyond top-level package',
      'test_pear.py::test_ImportError PASSED',
    ],
    says: [
      {
        log: [
          'Traceback (most recent call last):',
          '  File "/venv/lib/python3.13/site-packages/pear/press.py", line 4, in <module>',
          '    from pear.scales import weigh',
          "ImportError: cannot import name 'weigh' from 'pear.scales' " +
            '(/venv/lib/python3.13/site-packages/pear/scales.py)',
        ].join('\n'),
        title: 'pear.scales does not define weigh',
        fix:
          'Install a complete release of pear; if it is built here, define weigh in pear.scales or ' +
          'correct the import.',
      },
    ],
  },
  'linkage-error': {
    kind: 'version_conflict',
    strength: 5,
    patterns: [
      /(?:NoSuchMethod|NoSuchField|NoClassDefFound|AbstractMethod|IncompatibleClassChange|Linkage)Error/,
      /ClassNotFoundException: \S/,
      /ExceptionInInitializerError.{0,80}NoSuch/,
      /(?:MissingMethod|TypeLoad)Exception|Could not load (?:file or assembly|type)/,
    ],
    // A class that could not be initialized exists, and the reason is in an earlier exception. For a main
    // class that could not be loaded, the reason follows.
    when: (fact) =>
      !/javax[./]xml[./]bind|Could not initialize class|Error occurred while loading main/.test(fact.text),
    reads: [
      /NoSuchMethodError: (?<owner>[\w.$]{3,120}): method (?<ownMember>[\w<>$]{1,80})\(/,
      /NoSuchMethodError: '?(?:\S{1,80} )?(?<member>[\w.$/]{3,120})\(/,
      /NoSuchFieldError: (?<field>[\w.$]{2,120})/,
      /(?:NoClassDefFoundError|ClassNotFoundException): (?<class>[\w.$/]{3,160})/,
      /Could not load file or assembly '(?<assembly>[\w.-]{2,80}(?:, Version=[\d.]{1,20})?)/,
    ],
    title: [
      'The method {ownMember} of {owner} is missing at run time',
      'The method {member} is missing at run time',
      'The class {class} is missing at run time',
      'The assembly {assembly} cannot be loaded',
      'The field {field} is missing at run time',
    ],
    cause: [
      'The code was compiled against a version of {owner} that has the method {ownMember}, but the ' +
        'version used at run time does not have it.',
      'The code was compiled against a version of a library that has {member}, but the version used at ' +
        'run time does not have it.',
      'The program needs {class} at run time, but no library on its class path has it.',
      'The program needs the assembly {assembly} at run time, but that version is not available beside it.',
      'The code was compiled against a version of a library that has {field}, but the version used at ' +
        'run time does not have it.',
    ],
    fix: [
      ['dependency', 'Compile and run with the same version of the library that has {owner}.'],
      ['dependency', 'Compile and run with the same version of the library that has {member}.'],
      ['dependency', 'Compile and run with the same version of the library that has {field}.'],
      ['dependency', 'Add the library that contains {class} to the run-time class path.'],
    ],
    matches: ['java.lang.NoSuchMethodError: org.fruit.Basket.weigh()I'],
    ignores: [
      'Excluding ClassNotFoundException from the trace',
      '✓ throws ClassNotFoundException',
      'java.lang.NoClassDefFoundError: Could not initialize class org.fruit.Pear',
    ],
    says: [
      {
        log: 'java.lang.NoSuchMethodError: org.fruit.Basket: method <init>()V not found\njava.lang.NoClassDefFoundError: Could not initialize class org.fruit.Scales',
        title: 'The method <init> of org.fruit.Basket is missing at run time',
        fix: 'Compile and run with the same version of the library that has org.fruit.Basket.',
      },
      {
        log: 'java.lang.NoSuchMethodError: org.fruit.Basket.weigh()I',
        fix: 'Compile and run with the same version of the library that has org.fruit.Basket.weigh.',
      },
      {
        log: 'java.lang.NoSuchFieldError: WEIGHT',
        fix: 'Compile and run with the same version of the library that has WEIGHT.',
      },
      {
        log: 'java.lang.NoClassDefFoundError: org/fruit/Pear',
        fix: 'Add the library that contains org/fruit/Pear to the run-time class path.',
      },
    ],
  },
  'class-file-version': {
    kind: 'version_conflict',
    strength: 5,
    patterns: [
      /class file has wrong version/,
      /bad class file:/,
      /class file contains wrong class/,
      /UnsupportedClassVersionError: \S{1,200} has been compiled by a more recent version/,
    ],
    outranks: [
      ...GENERIC_COMPILE,
      'java-compilation-error',
      'javac-cannot-find-symbol',
      'path-missing',
      'wrong-runtime-version',
      'linkage-error',
    ],
    title: '{member} needs {runtime} {demanded}, but the job has {running}',
    cause: '{member} was compiled for {runtime} {demanded}, but the job has {runtime} {running}.',
    fix: [
      [
        'dependency',
        (read) =>
          read('member') === 'A class file' && read('running') !== null
            ? `Upgrade Java in the job from ${read('running')} to ${read('demanded')} or newer, or compile ` +
              `the class file for Java ${read('running')}.`
            : null,
      ],
      [
        'dependency',
        'Upgrade {runtime} in the job from {running} to {demanded} or newer, or use a release of ' +
          '{member} that was compiled for {running}.',
      ],
    ],
    matches: ['class file has wrong version 65.0, should be 61.0'],
    ignores: ['Class file version: 61.0'],
    says: [
      {
        log: [
          '[ERROR] /home/ci/orchard/src/main/java/orchard/Basket.java:[3,20] cannot access org.fruit.Pear',
          '[ERROR]   bad class file: ' +
            '/home/ci/.m2/repository/org/fruit/pear-core/6.0.1/pear-core-6.0.1.jar(org/fruit/Pear.class)',
          '[ERROR]     class file has wrong version 61.0, should be 55.0',
        ].join('\n'),
        title: 'pear-core-6.0.1.jar needs Java 17, but the job has 11',
        cause:
          'pear-core-6.0.1.jar was compiled for Java 17, but the job has Java 11. ' +
          'org.fruit.Pear belongs to org.fruit:pear-core 6.0.1.',
        fix:
          'Upgrade Java in the job from 11 to 17 or newer, or use a release of pear-core-6.0.1.jar that ' +
          'was compiled for 11.',
      },
    ],
  },
  'keyword-of-other-version': {
    kind: 'version_conflict',
    strength: 3.4,
    patterns: [
      /unexpected keyword argument '/,
      /has no attribute '\w{1,60}'.{0,40}(?:module|partially)/,
      /module '\S{1,80}' has no attribute/,
      /is not exported (?:from|by) '?(?:node_modules|[a-z@])/,
      /does not provide an export named/,
      /got an unexpected keyword/,
    ],
    reads: [
      /(?<callee>[\w.]{1,100})\(\) got an unexpected keyword argument '(?<argument>\w{1,60})'/,
      /module '(?<library>[\w.]{1,80})' has no attribute '(?<attribute>\w{1,60})'/,
      /"(?<attribute>\w{1,60})" is not exported by "\S{0,160}node_modules\/(?<library>(?:@[\w.-]{1,60}\/)?[\w.-]{1,80})/,
      /module '(?<ownFile>\.{1,2}\/[^'\n]{1,120})' does not provide an export named '(?<ownExport>\w{1,60})'/,
      /module '(?<library>[^'\n]{1,120})' does not provide an export named '(?<attribute>\w{1,60})'/,
    ],
    fix: [
      ['code', 'Export `{ownExport}` from {ownFile}, or correct the import.'],
      ['dependency', 'Call `{callee}` without `{argument}`, or use a version that accepts it.'],
      [
        'dependency',
        'Use a version of {library} that has `{attribute}`, or use its name in the installed version.',
      ],
    ],
    matches: ["TypeError: weigh() got an unexpected keyword argument 'pear'"],
    ignores: ["weigh() got keyword argument 'pear'"],
    says: [
      {
        log: "AttributeError: module 'pear' has no attribute 'weigh'",
        fix: 'Use a version of pear that has `weigh`, or use its name in the installed version.',
      },
      {
        log: "TypeError: weigh() got an unexpected keyword argument 'pear'",
        fix: 'Call `weigh` without `pear`, or use a version that accepts it.',
      },
    ],
  },
  'named-export-missing': {
    kind: 'version_conflict',
    strength: 4.6,
    patterns: [/Named export '\w{1,60}' not found\. The requested module '(?!\.{1,2}\/)/],
    outranks: ['python-syntax-error'],
    reads: [
      /Named export '(?<attribute>\w{1,60})' not found\. The requested module '(?<library>[^'\n]{1,120})'/,
    ],
    title: 'The installed {library} has no named export {attribute}',
    cause:
      'The code imports {attribute} by name from {library}, but the installed release of {library} is a ' +
      'CommonJS module that does not offer this name to `import`.',
    fix: [
      [
        'dependency',
        'Import the default export of {library} and take {attribute} from it, or use a release of ' +
          '{library} that exports {attribute} by name.',
      ],
    ],
    matches: [
      "SyntaxError: Named export 'weigh' not found. The requested module 'pear' is a CommonJS module.",
    ],
    ignores: ["import { weigh } from 'pear' // Named export"],
    says: [
      {
        log: "SyntaxError: Named export 'weigh' not found. The requested module 'pear' is a CommonJS module.",
        title: 'The installed pear has no named export weigh',
        fix:
          'Import the default export of pear and take weigh from it, or use a release of pear that ' +
          'exports weigh by name.',
      },
    ],
  },
  'r-package': {
    kind: 'missing_module',
    strength: 4.6,
    patterns: [
      /there is no package called/,
      /namespace ‘.{1,60}’ .{1,60} (?:is required|already loaded)/,
      /dependenc(?:y|ies) ‘.{1,60}’ (?:is|are) not available/,
      /ERROR: dependenc(?:y|ies) /,
    ],
    reads: [
      /there is no package called [‘'"](?<name>[\w.]{1,60})/,
      /dependenc(?:y|ies) [‘'"](?<name>[\w.]{1,60})[’'"].{0,200} (?:is|are) not available/,
      /namespace [‘'"](?<old>[\w.]{1,60})[’'"] (?<has>[\d.-]{1,20}) is (?:already loaded|being loaded), but (?<range>[<>=]{1,2} ?[\d.-]{1,20}) is required/,
    ],
    title: ['The R package {name} is not installed', 'R needs {old} {range}, but {has} is installed'],
    cause: [
      'The step loads the R package {name}, which is not installed.',
      'A package needs {old} {range}, but {has} is installed.',
    ],
    fix: [
      [
        'dependency',
        'Install the R package {name} in an earlier step; if this project is a package, list it in ' +
          'DESCRIPTION.',
      ],
      ['dependency', 'Upgrade the R package {old}; {range} is required, but {has} is installed.'],
    ],
    matches: ['Error in library(pear) : there is no package called ‘pear’'],
    ignores: ['* checking package dependencies ... OK'],
    says: [
      {
        log: 'Error in library(pear) : there is no package called ‘pear’',
        title: 'The R package pear is not installed',
        fix:
          'Install the R package pear in an earlier step; if this project is a package, list it in ' +
          'DESCRIPTION.',
      },
    ],
  },
  'java-command-missing': {
    kind: 'missing_module',
    strength: 4,
    patterns: [/no 'java' command could be found/],
    title: 'Java is not installed in the job',
    cause: [
      '`{command}` needs Java, but JAVA_HOME is not set and there is no `java` command.',
      'The step needs Java, but JAVA_HOME is not set and there is no `java` command.',
    ],
    fix: [
      ['configuration', 'Set up a JDK in the job before `{command}`.'],
      ['configuration', 'Set up a JDK in the job before this step, because {variable} is not set.'],
    ],
    matches: ["ERROR: JAVA_HOME is not set and no 'java' command could be found in your PATH."],
    ignores: ["Using 'java' command found in PATH"],
  },
  'go-module-missing': {
    kind: 'missing_module',
    strength: 4.6,
    patterns: [
      /no required module provides package|cannot find module providing package|ambiguous import|unknown revision/,
      /does not contain package/,
      /is not in (?:GOROOT|std)/,
      /module .{1,160} not found/,
      /go: .{1,200}: (?:invalid version|reading \S{1,200}: 404)/,
      /verifying .{0,120}checksum mismatch/,
    ],
    reads: [
      /no required module provides package (?<name>[\w./-]{1,200})/,
      /cannot find module providing package (?<name>[\w./-]{1,200})/,
      /(?:go: )?(?<unknown>[\w./-]{3,160}@[\w./+-]{1,80}): invalid version: unknown revision/,
      /verifying (?<tampered>[\w./-]{3,160}@[\w.+-]{1,80}): checksum mismatch/,
      /ambiguous import: found package (?<ambiguous>[\w./-]{3,160})/,
      /package (?<std>[\w./-]{1,100}) is not in (?:GOROOT|std)/,
      /module (?<module>\S{3,160}?)(?:@(?:latest|upgrade))? found(?: \((?<has>v[\w.+-]{1,60})(?:, replaced by \S{1,80})?\))?, but does not contain package (?<lacks>[\w./-]{3,200})/,
    ],
    title: [
      'No module in go.mod provides {name}',
      '{unknown} does not exist',
      'The checksum of {tampered} does not match go.sum',
      'Two modules provide {ambiguous}',
      'Go cannot find the package {std}',
      '{module} does not contain the package {lacks}',
    ],
    cause: [
      '{place} imports {name}, but no module in go.mod provides it.',
      'The code imports {name}, but no module in go.mod provides it.',
      'go.mod requires {unknown}, but its repository does not have that version.',
      'The module downloaded as {tampered} differs from what go.sum recorded.',
      'Two modules in go.mod could provide the import {ambiguous}.',
      'The code imports {std}, which is neither in the standard library of this Go version nor in a module.',
      'The code imports {lacks}, which {module} {has} does not contain.',
      'The code imports {lacks}, which {module} does not contain.',
    ],
    fix: [
      ['dependency', 'Run `go get {name}` and `go mod tidy`, then commit go.mod and go.sum.'],
      [
        'dependency',
        'Require an existing version instead of {unknown}; its repository does not have that tag or commit.',
      ],
      ['dependency', 'Require a version of {module} that contains {lacks}, or correct the import.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: ['scales.go:4:2: no required module provides package orchard.example/pear; to add it:'],
    ignores: ['go: downloading orchard.example/pear v1.2.3', '✓ refuses an ambiguous import'],
    says: [
      {
        log: 'scales.go:4:2: no required module provides package orchard.example/pear; to add it:',
        title: 'No module in go.mod provides orchard.example/pear',
        fix: 'Run `go get orchard.example/pear` and `go mod tidy`, then commit go.mod and go.sum.',
      },
    ],
  },
});

function namesPackage(fact: Fact, facts: Facts): boolean {
  if (/ImportError: lib\S{1,80}\.so/.test(fact.text)) return true;
  return /cannot import name/.test(fact.text) && !isOwnModule(fact.text, facts);
}

/** Describes that a module imports a missing name from another module of its own package. */
function describeWithinPackage(
  write: (names: { readonly importer: string; readonly from: string; readonly name: string }) => string,
): (read: (slot: string) => string | null) => string | null {
  return (read) => {
    const [importer, from, name] = [read('importer'), read('from'), read('name')];
    const isOwn = importer !== null && importer === from?.split('.')[0];
    return isOwn && name !== null ? write({ importer, from, name }) : null;
  };
}
