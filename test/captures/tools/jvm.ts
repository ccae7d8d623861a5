import type { ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Maven's tools: checks of sources, tests, documents and dependencies. */
export const rows: readonly ToolRow[] = [
  {
    ...maven('test-compile', 'maven-compiler-plugin'),
    version: 'javac -version',
    slug: 'javac-missing-symbol',
    tool: 'javac',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(''),
      'src/main/java/harbor/Berth.java':
        'package harbor;\n\nimport java.util.List;\n\npublic final class Berth {\n  public int longest(List<Integer> lengths) {\n    return lengths.stream().mapToInt(Integer::intValue).max().orElseThrow(NoBoat::new);\n  }\n}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress test-compile',
    exitCode: 1,
    telling: ['cannot find symbol'],
  },
  {
    ...maven('checkstyle:check', 'maven-checkstyle-plugin'),
    slug: 'checkstyle-magic-number',
    tool: 'checkstyle',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin(
          'org.apache.maven.plugins:maven-checkstyle-plugin:3.3.1',
          '<configLocation>checkstyle.xml</configLocation><consoleOutput>true</consoleOutput>',
        ),
      ),
      'checkstyle.xml':
        '<?xml version="1.0"?>\n<!DOCTYPE module PUBLIC "-//Checkstyle//DTD Checkstyle Configuration 1.3//EN" "https://checkstyle.org/dtds/configuration_1_3.dtd">\n<module name="Checker">\n  <module name="TreeWalker">\n    <module name="MagicNumber"/>\n    <module name="FinalClass"/>\n  </module>\n</module>\n',
      'src/main/java/harbor/Fare.java':
        'package harbor;\n\npublic final class Fare {\n  private Fare() {}\n\n  public static int of(int zones) {\n    return zones * 150;\n  }\n}\n',
    },
    green: {
      'src/main/java/harbor/Fare.java': [
        '  private Fare() {}\n\n  public static int of(int zones) {\n    return zones * 150;',
        '  private static final int PRICE = 150;\n\n  private Fare() {}\n\n  public static int of(int zones) {\n    return zones * PRICE;',
      ],
    },
    run: 'mvn --batch-mode --no-transfer-progress checkstyle:check',
    exitCode: 1,
    telling: ["'150' is a magic number"],
  },
  {
    ...maven('compile spotbugs:check', 'spotbugs-maven-plugin'),
    slug: 'spotbugs-null-dereference',
    tool: 'spotbugs',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(plugin('com.github.spotbugs:spotbugs-maven-plugin:4.8.6.4')),
      'src/main/java/harbor/Crew.java':
        'package harbor;\n\npublic final class Crew {\n  public int size(String names) {\n    if (names == null) {\n      System.err.println("no names: " + names.length());\n    }\n    return names.split(",").length;\n  }\n}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress compile spotbugs:check',
    exitCode: 1,
    telling: ['NP_ALWAYS_NULL', 'NP_LOAD_OF_KNOWN_NULL_VALUE'],
  },
  {
    ...maven('compile pmd:check', 'maven-pmd-plugin'),
    slug: 'pmd-empty-catch',
    tool: 'pmd',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin(
          'org.apache.maven.plugins:maven-pmd-plugin:3.21.2',
          '<printFailingErrors>true</printFailingErrors><linkXRef>false</linkXRef><rulesets><ruleset>pmd.xml</ruleset></rulesets>',
        ),
      ),
      'pmd.xml':
        '<?xml version="1.0"?>\n<ruleset name="harbor" xmlns="http://pmd.sourceforge.net/ruleset/2.0.0">\n  <description>Rules</description>\n  <rule ref="category/java/errorprone.xml/EmptyCatchBlock"/>\n</ruleset>\n',
      'src/main/java/harbor/Port.java':
        'package harbor;\n\npublic final class Port {\n  public int parse(String text) {\n    try {\n      return Integer.parseInt(text);\n    } catch (NumberFormatException error) {\n    }\n    return 8080;\n  }\n}\n',
    },
    green: {
      'src/main/java/harbor/Port.java': ['error) {\n', 'error) {\n      System.err.println(text);\n'],
    },
    run: 'mvn --batch-mode --no-transfer-progress compile pmd:check',
    exitCode: 1,
    telling: ['EmptyCatchBlock'],
  },
  {
    ...maven('verify', 'jacoco-maven-plugin'),
    slug: 'jacoco-line-ratio',
    tool: 'jacoco',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'pom.xml': pom(
        `<plugin><groupId>org.jacoco</groupId><artifactId>jacoco-maven-plugin</artifactId><version>0.8.12</version><executions>
      <execution><goals><goal>prepare-agent</goal></goals></execution>
      <execution><id>check</id><phase>verify</phase><goals><goal>check</goal></goals><configuration><rules><rule><element>BUNDLE</element><limits>
        <limit><counter>LINE</counter><value>COVEREDRATIO</value><minimum>0.80</minimum></limit>
      </limits></rule></rules></configuration></execution>
    </executions></plugin>`,
        junit(),
      ),
      'src/main/java/harbor/Fare.java':
        'package harbor;\n\npublic class Fare {\n  public int day(int boats) {\n    return boats * 12;\n  }\n\n  public int week(int boats) {\n    int price = boats * 70;\n    if (boats > 3) {\n      price -= 10;\n    }\n    return price;\n  }\n}\n',
      'src/test/java/harbor/FareTest.java':
        'package harbor;\n\nimport static org.junit.jupiter.api.Assertions.assertEquals;\n\nimport org.junit.jupiter.api.Test;\n\nclass FareTest {\n  @Test\n  void day() {\n    assertEquals(24, new Fare().day(2));\n  }\n}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress verify',
    exitCode: 1,
    telling: ['lines covered ratio is'],
  },
  {
    ...maven('validate', 'maven-enforcer-plugin'),
    slug: 'maven-enforcer-java-version',
    tool: 'maven-enforcer',
    heldOut: true,
    category: 'CONFIG_ERROR',
    files: { 'pom.xml': pom(enforcer('<requireJavaVersion><version>[21,)</version></requireJavaVersion>')) },
    green: { 'pom.xml': ['[21,)', '[17,)'] },
    run: 'mvn --batch-mode --no-transfer-progress validate',
    exitCode: 1,
    telling: ['Detected JDK'],
  },
  {
    ...maven('validate', 'maven-enforcer-plugin'),
    slug: 'maven-enforcer-convergence',
    tool: 'maven-enforcer',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    files: {
      'pom.xml': pom(
        enforcer('<dependencyConvergence/>'),
        dependency('org.apache.httpcomponents:httpclient:4.5.14') +
          dependency('commons-codec:commons-codec:1.15'),
      ),
    },
    run: 'mvn --batch-mode --no-transfer-progress validate',
    exitCode: 1,
    telling: ['Dependency convergence error for commons-codec'],
  },
  {
    ...maven('test', 'archunit'),
    slug: 'archunit-layer-violation',
    tool: 'archunit',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'pom.xml': pom(
        '',
        junit() +
          dependency('com.tngtech.archunit:archunit:1.3.0', 'test') +
          dependency('org.slf4j:slf4j-nop:2.0.13', 'test'),
      ),
      'src/main/java/harbor/model/Boat.java':
        'package harbor.model;\n\nimport harbor.web.Page;\n\npublic class Boat {\n  public Page page() {\n    return new Page();\n  }\n}\n',
      'src/main/java/harbor/web/Page.java': 'package harbor.web;\n\npublic class Page {}\n',
      'src/test/java/harbor/LayersTest.java':
        'package harbor;\n\nimport static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;\n\nimport com.tngtech.archunit.core.importer.ClassFileImporter;\nimport org.junit.jupiter.api.Test;\n\nclass LayersTest {\n  @Test\n  void modelKnowsNoPages() {\n    noClasses().that().resideInAPackage("harbor.model").should().dependOnClassesThat().resideInAPackage("harbor.web")\n        .check(new ClassFileImporter().importPackages("harbor"));\n  }\n}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress test',
    exitCode: 1,
    telling: ['was violated', 'Method <harbor.model.Boat.page()> '],
  },
  {
    ...maven('compile javadoc:javadoc', 'maven-javadoc-plugin'),
    slug: 'javadoc-unknown-reference',
    tool: 'javadoc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin('org.apache.maven.plugins:maven-javadoc-plugin:3.6.3', '<doclint>all,-missing</doclint>'),
      ),
      'src/main/java/harbor/Lock.java':
        'package harbor;\n\n/** Lets boats pass, see {@link Gate#open}. */\npublic class Lock {\n  /** Closes the lock. */\n  public void close() {}\n}\n',
    },
    green: { 'src/main/java/harbor/Lock.java': ['Gate#open', '#close'] },
    run: 'mvn --batch-mode --no-transfer-progress compile javadoc:javadoc',
    exitCode: 1,
    telling: ['error: reference not found'],
  },
  {
    ...maven('spotless:check', 'spotless-maven-plugin'),
    slug: 'spotless-trailing-space',
    tool: 'spotless',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin(
          'com.diffplug.spotless:spotless-maven-plugin:2.43.0',
          '<formats><format><includes><include>src/**/*.java</include></includes><trimTrailingWhitespace/><endWithNewline/><indent><spaces>true</spaces><spacesPerTab>2</spacesPerTab></indent></format></formats>',
        ),
      ),
      'src/main/java/harbor/Rope.java': 'package harbor;\n\npublic class Rope {\n\tint meters = 12;   \n}',
    },
    green: {
      'src/main/java/harbor/Rope.java': 'package harbor;\n\npublic class Rope {\n  int meters = 12;\n}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress spotless:check',
    exitCode: 1,
    telling: ['The following files had format violations', 'Rope.java'],
  },
  {
    ...maven('license:check', 'license-maven-plugin'),
    slug: 'license-maven-missing-header',
    tool: 'license-maven',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin(
          'com.mycila:license-maven-plugin:4.5',
          '<licenseSets><licenseSet><inlineHeader>Copyright Harbor Office</inlineHeader><includes><include>src/**</include></includes></licenseSet></licenseSets>',
        ),
      ),
      'src/main/java/harbor/Sail.java': 'package harbor;\n\npublic class Sail {}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress license:check',
    exitCode: 1,
    telling: ['Missing header in: '],
  },
  {
    ...maven('flyway:migrate', 'flyway-maven-plugin'),
    slug: 'flyway-migration-syntax',
    tool: 'flyway',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin(
          'org.flywaydb:flyway-maven-plugin:9.22.3',
          '<url>jdbc:h2:mem:harbor</url><locations><location>filesystem:migrations</location></locations>',
          dependency('com.h2database:h2:2.2.224'),
        ),
      ),
      'migrations/V1__berths.sql': 'CREATE TABLE berth (name VARCHAR(8) PRIMARY KEY);\n',
      'migrations/V2__length.sql':
        'ALTER TABLE berth ADD COLUMN length INT NOT NULL DEFAULT 8;\nCREATE INDEX berth_width ON berth (width);\n',
    },
    green: { 'migrations/V2__length.sql': ['(width)', '(length)'] },
    run: 'mvn --batch-mode --no-transfer-progress flyway:migrate',
    exitCode: 1,
    telling: ['Column "WIDTH" not found'],
  },
  {
    ...maven('compile forbiddenapis:check', 'forbiddenapis'),
    slug: 'forbiddenapis-default-charset',
    tool: 'forbiddenapis',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'pom.xml': pom(
        plugin(
          'de.thetaphi:forbiddenapis:3.7',
          '<bundledSignatures><bundledSignature>jdk-unsafe</bundledSignature></bundledSignatures>',
        ),
      ),
      'src/main/java/harbor/Name.java':
        'package harbor;\n\npublic class Name {\n  public String shout(String name) {\n    return name.toUpperCase();\n  }\n}\n',
    },
    green: { 'src/main/java/harbor/Name.java': ['toUpperCase()', 'toUpperCase(java.util.Locale.ROOT)'] },
    run: 'mvn --batch-mode --no-transfer-progress compile forbiddenapis:check',
    exitCode: 1,
    telling: ['Forbidden method invocation: java.lang.String#toUpperCase()'],
  },
  {
    ...maven('test-compile dependency:analyze', 'maven-dependency-plugin'),
    slug: 'maven-dependency-analyze',
    tool: 'maven-dependency',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'pom.xml': pom(
        plugin(
          'org.apache.maven.plugins:maven-dependency-plugin:3.6.1',
          '<failOnWarning>true</failOnWarning>',
        ),
        dependency('commons-io:commons-io:2.16.1'),
      ),
      'src/main/java/harbor/Sail.java': 'package harbor;\n\npublic class Sail {}\n',
    },
    run: 'mvn --batch-mode --no-transfer-progress test-compile dependency:analyze-only',
    exitCode: 1,
    telling: ['Unused declared dependencies found', 'commons-io:commons-io:jar:2.16.1'],
  },
];

/** A project of Maven's whose downloads are done before the job, so that its log shows the goals alone; tells an artifact's version. */
function maven(goals: string, artifact: string): Pick<ToolRow, 'setup' | 'version'> {
  return {
    setup: `mkdir -p ~/.m2 && ln -s /mnt/cache-maven ~/.m2/repository && { mvn -B -q ${goals} || true; } && rm -rf target`,
    version: `grep -o '<artifactId>${artifact}</artifactId><version>[^<]*' pom.xml`,
  };
}

function pom(plugins: string, dependencies = ''): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example.harbor</groupId>
  <artifactId>tides</artifactId>
  <version>1.0.0-SNAPSHOT</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>${dependencies}</dependencies>
  <build><plugins>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
    ${plugins}
  </plugins></build>
</project>
`;
}

function dependency(coordinates: string, scope = 'compile'): string {
  const [group, artifact, version] = coordinates.split(':');
  return `\n    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><scope>${scope}</scope></dependency>`;
}

function junit(): string {
  return dependency('org.junit.jupiter:junit-jupiter:5.10.2', 'test');
}

function plugin(coordinates: string, configuration = '', dependencies = ''): string {
  const [group, artifact, version] = coordinates.split(':');
  return `<plugin><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><dependencies>${dependencies}</dependencies><configuration>${configuration}</configuration></plugin>`;
}

function enforcer(rules: string): string {
  return `<plugin><artifactId>maven-enforcer-plugin</artifactId><version>3.4.1</version><executions><execution><goals><goal>enforce</goal></goals><configuration><rules>${rules}</rules></configuration></execution></executions></plugin>`;
}
