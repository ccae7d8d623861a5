import type { Fact } from '../facts.ts';
import { defineRules, type RuleRow } from '../rule.ts';
import { GENERIC_COMPILE } from './symptoms.ts';

/** Rules for messages of Maven and Gradle about artifacts. */
export const MAVEN_GRADLE_RULES: readonly RuleRow[] = defineRules('DEPENDENCY_ERROR', {
  'managed-version-gone': {
    kind: 'version_conflict',
    strength: 5,
    patterns: [/'dependencies\.dependency\.version' for \S{1,200} is missing/],
    reads: [
      /'dependencies\.dependency\.version' for (?<artifact>[\w.-]{1,120}:[\w.-]{1,120}):\S{1,80} is missing/,
    ],
    title: 'No version of {artifact} is specified or managed',
    cause:
      'The build declares {artifact} without a version, and neither its parent nor a bill of materials ' +
      'manages its version anymore.',
    fix: [
      [
        'dependency',
        'Specify a version of {artifact} in the build, or use a parent or bill of materials that manages it.',
      ],
    ],
    outranks: ['build-script-broken', 'maven-unresolvable'],
    matches: [
      "[ERROR] 'dependencies.dependency.version' for org.fruit:pear-core:jar is missing. @ line 41, " +
        'column 17',
    ],
    ignores: ["'dependencies.dependency.version' for org.fruit:pear-core:jar is managed"],
    says: [
      {
        log:
          "[ERROR] 'dependencies.dependency.version' for org.fruit:pear-core:jar is missing. @ line 41, " +
          'column 17',
        title: 'No version of org.fruit:pear-core is specified or managed',
        fix:
          'Specify a version of org.fruit:pear-core in the build, or use a parent or bill of materials ' +
          'that manages it.',
      },
    ],
  },
  'android-api-too-old': {
    kind: 'version_conflict',
    strength: 4.8,
    patterns: [
      /^(?:\d{1,3}\.\s{1,4})?Dependency '[^'\n]{3,160}' requires libraries and applications that\b/,
      /^[\s>]{0,8}(?:An|\d{1,3}) issues? (?:was|were) found when checking AAR metadata/,
    ],
    reads: [
      /Dependency '(?<artifact>[^'\n]{3,160})' requires/,
      /compile against version (?<api>\d{1,3}) or later/,
      /is currently compiled against (?<present>android-\d{1,3})/,
    ],
    title: '{artifact} requires Android API {api}',
    cause: [
      '{artifact} requires Android API {api} or later, but the project compiles against {present}.',
      '{artifact} requires the project to compile against Android API {api} or later.',
    ],
    fix: [['dependency', 'Raise `compileSdk` to {api}, or use an older release of {artifact}.']],
    matches: ["1.  Dependency 'org.fruit:pear-ui:9.0.0' requires libraries and applications that"],
    ignores: ["Dependency 'org.fruit:pear-ui:9.0.0' requires nothing"],
    says: [
      {
        log: [
          '* What went wrong:',
          "Execution failed for task ':app:checkDebugAarMetadata'.",
          '   > An issue was found when checking AAR metadata:',
          '',
          "       1.  Dependency 'org.fruit:pear-ui:9.0.0' requires libraries and applications that",
          '           depend on it to compile against version 36 or later of the',
          '           Android APIs.',
        ].join('\n'),
        fix: 'Raise `compileSdk` to 36, or use an older release of org.fruit:pear-ui:9.0.0.',
      },
    ],
  },
  'maven-unresolvable': {
    kind: 'dependency_install',
    strength: 4.8,
    patterns: [
      /Could not resolve dependencies/,
      /Could not find artifact/,
      /artifacts could not be resolved/,
      /Failed to collect dependencies/,
      /Non-resolvable (?:parent POM|import POM)/,
      /Could not resolve all (?:files|dependencies|artifacts|task dependencies)/,
      /> Could not find (?!(?:method|property) )\S{1,200}/,
      /UNRESOLVED DEPENDENCIES|unresolved dependency|DependencyResolutionException/,
      /not found: \S{1,120}#\S{1,120};/,
    ],
    when: isNotJustNetwork,
    reads: [
      /maven-default-http-blocker.{0,80}Blocked mirror for repositories: \[(?<blocked>[\w.-]{1,80} \(http:[^,)\s]{1,160})/,
      /Could not find artifact (?<artifact>[\w.:${}-]{3,200}) in (?<where>\S{1,80} \([^)\n]{1,200}\))/,
      /Could not find artifact (?<artifact>[\w.:${}-]{3,200})/,
      /Could not find artifact (?<snapshot>[\w.:${}-]{3,180}-SNAPSHOT)/,
      /Could not transfer artifact (?<refused>[\w.:${}-]{3,200}) from\/to (?<where>\S{1,80} \([^)\n]{1,200}\))/,
      /(?:status(?: code)?:?|Unauthorized|Forbidden|reason phrase:?)\D{0,12}(?<code>40[13])\b/,
      /> Could not find (?<coordinates>[\w.-]{1,100}:[\w.:-]{3,160}?)\.?$/,
      /^\s{2,20}(?:> )?(?<requiredBy>project :[\w:-]{0,100})/,
      /on project (?<project>[\w.-]{1,100})/,
    ],
    title: [
      'Maven blocks the repository {blocked}), which does not use TLS',
      'The repository denied access to {refused} ({code})',
      'Maven cannot find {artifact}',
      'Gradle cannot find {coordinates}',
    ],
    cause: [
      'Maven blocks repositories that are accessed over http, such as {blocked}).',
      "The repository {where} denied access to {refused} with {code}, because the job's credentials are " +
        'missing or are not allowed to read it.',
      '{project} depends on {artifact}, but the repository {where} does not contain that artifact.',
      'The project depends on {artifact}, but the repository {where} does not contain that artifact.',
      'The {requiredBy} depends on {coordinates}, but none of its repositories contains that artifact.',
      'The project depends on {coordinates}, but none of its repositories contains that artifact.',
    ],
    fix: [
      [
        'configuration',
        'Use https for the repository {blocked}), or remove the repository, because Maven blocks http.',
      ],
      ['ask', 'Give the job credentials for {where} in the Maven settings, because it returned {code}.'],
      [
        'dependency',
        'Depend on a release instead of {snapshot}, or build and install that snapshot before this step.',
      ],
      ['dependency', 'Use a published version of {artifact}, or add the repository that has it.'],
      ['dependency', 'Use a published version of {coordinates}, or add the repository that has it.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: [
      '[ERROR] Could not find artifact org.fruit:pear:jar:9.9 in central ' +
        '(https://repo.maven.apache.org/maven2)',
    ],
    ignores: [
      '[WARNING] Could not resolve dependencies of optional plugin, ignored',
      'Resolving dependencies',
    ],
    says: [
      {
        log:
          '[ERROR] Failed to execute goal on project scales: Could not resolve dependencies: Could not ' +
          'find artifact org.fruit:pear:jar:9.9 in central (https://repo.maven.apache.org/maven2)',
        cause:
          'scales depends on org.fruit:pear:jar:9.9, but the repository central ' +
          '(https://repo.maven.apache.org/maven2) does not contain that artifact.',
        fix: 'Use a published version of org.fruit:pear:jar:9.9, or add the repository that has it.',
      },
    ],
  },
  'maven-enforcer': {
    kind: 'version_conflict',
    strength: 4.6,
    patterns: [
      /^(?:\[ERROR\] )?(?:Failed to execute goal )?(?:org\.apache\.maven\.plugins:)?maven-enforcer-plugin:/i,
      /Dependency convergence error/i,
      /RequireUpperBound/i,
      /requires Jenkins \d/i,
      /Some Enforcer rules have failed/i,
      /banned dependenc/i,
      /^(?:\[\w{5,7}\] )?Rule \d{1,3}: org\.apache\.maven\.(?:plugins\.)?enforcer/i,
    ],
    reads: [
      /Dependency convergence error for (?<artifact>\S{3,160})/i,
      /Require upper bound dependencies error for (?<bound>\S{3,160})/i,
      /Detected (?<what>JDK|Maven) [Vv]ersion:? (?<detected>[\w.-]{1,30}) .{0,160}is not in the allowed range (?<allowed>[^\s]{2,30}?)\.?$/,
      /[Ff]ound [Bb]anned [Dd]ependency: (?<banned>\S{3,160})/,
    ],
    title: [
      'The project allows {what} {allowed}, but the job has {detected}',
      'Dependencies require different versions of {artifact}',
      'A dependency requires a newer version than {bound}',
      'The project bans the dependency {banned}',
    ],
    cause: [
      "The project's enforcer rules allow {what} in the range {allowed}, but the job has {detected}.",
      "Several dependencies require different versions of {artifact}, which the project's enforcer rules " +
        'do not allow.',
      "The project resolves {bound}, but one of its dependencies requires a newer version; the project's " +
        'enforcer rules do not allow that.',
      'The project depends on {banned}, which its enforcer rules ban.',
    ],
    fix: [
      ['configuration', 'Set up a {what} version in the range {allowed} in the job, which has {detected}.'],
      [
        'dependency',
        'Set one version of {artifact} in dependencyManagement, or exclude it from all but one of the ' +
          'dependencies that use it.',
      ],
      ['dependency', 'Raise {bound} in dependencyManagement to the highest version that its users require.'],
      ['dependency', 'Exclude {banned} from the dependency that brings it in.'],
    ],
    outranks: [...GENERIC_COMPILE, 'path-missing'],
    matches: [
      'Rule 0: org.apache.maven.enforcer.rules.dependency.DependencyConvergence failed with message:',
    ],
    ignores: [
      'Configuring maven-enforcer-plugin for scales',
      '[INFO] --- maven-enforcer-plugin:3.4.1:enforce (default) @ scales ---',
    ],
  },
});

/** Checks that a resolver's message is not only the consequence of a network failure. */
function isNotJustNetwork(fact: Fact): boolean {
  return !/Could not transfer artifact .{0,300}(?:timed out|reset|50[0234]|Connection)|status(?: code)? 50[0234]|Temporary failure/i.test(
    fact.text,
  );
}
