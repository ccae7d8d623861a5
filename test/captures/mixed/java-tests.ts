import {
  assertion,
  brokenFixture,
  type MixedBuild,
  missingFile,
  nullReference,
  refused,
  testTimeout,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';

/** Fills the local repository out of sight, as an earlier job's cache does. */
const setup =
  'mkdir -p ~/.m2 && ln -s /mnt/cache-maven ~/.m2/repository && { mvn -B -q test || true; } && rm -rf target';

/** Suites of JUnit and TestNG, run by Maven or Gradle. */
export const builds: readonly MixedBuild[] = [
  {
    setup,
    version: "grep -o '<artifactId>junit-jupiter</artifactId><version>[^<]*' pom.xml",
    id: 'junit-maven-brewery',
    runner: 'junit maven',
    project: 'brewery',
    files: {
      'pom.xml': pom('brewery', '3.2.5', dependency('org.junit.jupiter', 'junit-jupiter', '5.10.2')),
      'src/main/java/brewery/Brewery.java': `package brewery;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

public final class Brewery {
  private static final Map<String, Integer> WEEKS = Map.of("lager", 6, "ale", 2);

  public int bottles(int liters) {
    return liters * 2;
  }

  public int weeks(String beer) {
    return WEEKS.get(beer);
  }

  public List<String> recipe(String name) throws IOException {
    return Files.readAllLines(Path.of("recipes", name + ".txt"));
  }

  public void pump() throws IOException {
    new Socket("127.0.0.1", 1502).close();
  }

  public int temperature(int celsius) {
    if (celsius > 78) {
      throw new IllegalStateException("mash is too hot: " + celsius + " degrees");
    }
    return celsius;
  }
}
`,
      'src/test/java/brewery/BreweryTest.java': `package brewery;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertIterableEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

@TestMethodOrder(MethodOrderer.MethodName.class)
class BreweryTest {
  private final Brewery brewery = new Brewery();

  @Test
  void aleIsReadyInTwoWeeks() {
    assertEquals(2, brewery.weeks("ale"));
  }

  @Test
  void bottlesOfABarrel() {
    assertEquals(303, brewery.bottles(100), "bottles of 0.33 liters");
  }

  @Test
  void coolingTakesAMoment() {
    assertTimeoutPreemptively(Duration.ofMillis(150), () -> Thread.sleep(4_000));
  }

  @Test
  void mashAtEightyDegrees() {
    assertEquals(80, brewery.temperature(80));
  }

  @Test
  void pumpRuns() throws Exception {
    brewery.pump();
  }

  @Test
  void recipeOfPorter() throws Exception {
    assertEquals(4, brewery.recipe("porter").size());
  }

  @Test
  void stepsOfTheDay() {
    assertIterableEquals(List.of("malt", "mash", "boil"), List.of("malt", "boil", "mash"));
  }

  @Test
  void stoutIsReadyInEightWeeks() {
    assertEquals(8, brewery.weeks("stout"));
  }
}
`,
    },
    run: 'mvn --batch-mode --no-transfer-progress test',
    report: 'target/surefire-reports/TEST-*.xml',
    tally: 'Tests run: 8, Failures: 3, Errors: 4, Skipped: 0',
    failures: [
      {
        ...assertion,
        test: 'bottlesOfABarrel',
        message: 'bottles of 0.33 liters ==> expected: <303> but was: <200>',
        cause: 'bottles',
      },
      {
        ...testTimeout,
        test: 'coolingTakesAMoment',
        message: 'execution timed out after 150 ms',
        cause: 'cooling',
      },
      { ...thrown, test: 'mashAtEightyDegrees', message: 'mash is too hot: 80 degrees', cause: 'hot-mash' },
      {
        ...refused,
        test: 'pumpRuns',
        message: 'java.net.ConnectException: Connection refused',
        cause: 'no-pump',
      },
      {
        ...missingFile,
        test: 'recipeOfPorter',
        message: 'java.nio.file.NoSuchFileException: recipes/porter.txt',
        cause: 'porter-recipe',
      },
      {
        ...assertion,
        test: 'stepsOfTheDay',
        message: 'iterable contents differ at index [1], expected: <mash> but was: <boil>',
        cause: 'order-of-steps',
      },
      {
        ...nullReference,
        test: 'stoutIsReadyInEightWeeks',
        message: 'because the return value of "java.util.Map.get(Object)" is null',
        cause: 'stout',
      },
    ].map((failure) => ({
      ...failure,
      suite: 'brewery.BreweryTest',
      at: `[ERROR] brewery.BreweryTest.${failure.test}`,
    })),
  },
  {
    setup,
    version: "grep -o '<artifactId>junit-jupiter</artifactId><version>[^<]*' pom.xml",
    id: 'junit-maven-archive-rerun',
    runner: 'junit maven',
    project: 'film-archive',
    ci: 'jenkins',
    files: {
      'pom.xml': pom('film-archive', '3.2.5', dependency('org.junit.jupiter', 'junit-jupiter', '5.10.2')),
      'src/test/java/archive/ScannerTest.java': `package archive;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ScannerTest {
  private static int tries;

  @Test
  void lampIsWarm() {
    tries++;
    assertEquals("warm", tries < 2 ? "cold" : "warm", "lamp of the scanner");
  }

  @Test
  void reelHasTwoSides() {
    assertEquals(2, "A".length(), "sides of a reel");
  }
}
`,
      'src/test/java/archive/VaultTest.java': `package archive;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VaultTest {
  private String[] shelves;

  @BeforeEach
  void openTheVault() {
    shelves = System.getProperty("vault.shelves").split(",");
  }

  @Test
  void holdsNitrateFilm() {
    assertTrue(shelves.length > 0);
  }

  @Test
  void holdsColorFilm() {
    assertTrue(shelves.length > 1);
  }

  @Test
  void isCold() {
    assertTrue(shelves.length > 2);
  }
}
`,
    },
    run: 'mvn --batch-mode --no-transfer-progress test -Dsurefire.rerunFailingTestsCount=2',
    tally: 'Tests run: 5, Failures: 1, Errors: 3, Skipped: 0, Flakes: 1',
    passedOnRetry: ['archive.ScannerTest.lampIsWarm'],
    failures: [
      {
        ...assertion,
        test: 'reelHasTwoSides',
        suite: 'archive.ScannerTest',
        at: '[ERROR] archive.ScannerTest.reelHasTwoSides',
        message: 'sides of a reel ==> expected: <2> but was: <1>',
        cause: 'reel-sides',
      },
      ...['holdsColorFilm', 'holdsNitrateFilm', 'isCold'].map((test) => ({
        ...nullReference,
        also_ok: ['TEST_FAILURE', 'CONFIG_ERROR'] as const,
        test,
        suite: 'archive.VaultTest',
        at: `[ERROR] archive.VaultTest.${test}`,
        message: 'because the return value of "java.lang.System.getProperty(String)" is null',
        cause: 'vault-shelves',
      })),
    ],
  },
  {
    setup,
    version: "grep -o '<artifactId>testng</artifactId><version>[^<]*' pom.xml",
    id: 'testng-harvest-fair',
    runner: 'testng',
    project: 'harvest-fair',
    files: {
      'pom.xml': pom('harvest-fair', '3.1.2', dependency('org.testng', 'testng', '7.9.0')),
      'src/test/java/fair/StallTest.java': `package fair;

import static org.testng.Assert.assertEquals;
import static org.testng.Assert.assertTrue;

import java.io.FileReader;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class StallTest {
  private final Map<String, List<String>> stalls = Map.of("cider", List.of("dry", "sweet"));

  @DataProvider
  public Object[][] pumpkins() {
    return new Object[][] {{4, "pie"}, {30, "first prize"}, {80, "record"}};
  }

  @Test(dataProvider = "pumpkins")
  public void pumpkinIsJudged(int kilograms, String verdict) {
    assertEquals(kilograms < 10 ? "pie" : "first prize", verdict, "verdict of the judges");
  }

  @Test
  public void ciderHasTwoKinds() {
    assertEquals(stalls.get("cider").size(), 2);
  }

  @Test
  public void honeyHasAKind() {
    assertEquals(stalls.get("honey").get(0), "linden");
  }

  @Test
  public void mapOfTheStalls() throws Exception {
    new FileReader("maps/stalls.svg").close();
  }

  @Test
  public void ticketsAreSold() throws Exception {
    new Socket("127.0.0.1", 8443).close();
  }

  @Test(timeOut = 200)
  public void queueAtTheWheel() throws Exception {
    Thread.sleep(3_000);
  }

  @Test(expectedExceptions = IllegalArgumentException.class)
  public void noStallWithoutRoof() {
    assertTrue(stalls.containsKey("cider"));
  }
}
`,
      'src/test/java/fair/MarketTest.java': `package fair;

import static org.testng.Assert.assertEquals;

import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

public class MarketTest {
  private Integer opening;

  @BeforeClass
  public void readTheHours() {
    opening = Integer.valueOf("nine o'clock");
  }

  @Test
  public void opensAtNine() {
    assertEquals(opening, Integer.valueOf(9));
  }
}
`,
    },
    run: 'mvn --batch-mode --no-transfer-progress test',
    tally: 'Tests run: 11, Failures: 7, Errors: 0, Skipped: 1',
    failures: [
      {
        ...assertion,
        test: 'pumpkinIsJudged',
        suite: 'fair.StallTest',
        message: 'verdict of the judges expected [record] but found [first prize]',
        cause: 'record-pumpkin',
      },
      {
        ...nullReference,
        test: 'honeyHasAKind',
        suite: 'fair.StallTest',
        message: 'because the return value of "java.util.Map.get(Object)" is null',
        cause: 'honey-stall',
      },
      {
        ...missingFile,
        test: 'mapOfTheStalls',
        suite: 'fair.StallTest',
        message: 'java.io.FileNotFoundException: maps/stalls.svg (No such file or directory)',
        cause: 'map-of-stalls',
      },
      {
        ...refused,
        test: 'ticketsAreSold',
        suite: 'fair.StallTest',
        message: 'java.net.ConnectException: Connection refused',
        cause: 'no-ticket-server',
      },
      {
        ...testTimeout,
        test: 'queueAtTheWheel',
        suite: 'fair.StallTest',
        message: "didn't finish within the time-out 200",
        cause: 'queue',
      },
      {
        ...assertion,
        test: 'noStallWithoutRoof',
        suite: 'fair.StallTest',
        message: 'should have thrown an exception of type class java.lang.IllegalArgumentException',
        cause: 'no-exception',
      },
      {
        ...brokenFixture,
        test: 'readTheHours',
        suite: 'fair.MarketTest',
        message: 'java.lang.NumberFormatException: For input string: "nine o\'clock"',
        cause: 'opening-hours',
      },
    ].map((failure) => ({ ...failure, at: `[ERROR] ${failure.suite}.${failure.test}` })),
  },
  {
    debian: ['gradle', 'junit4'],
    setup: 'mkdir -p ~/.gradle && { gradle --offline --no-daemon test || true; } && rm -rf build .gradle',
    version: "dpkg -s gradle | sed -n 's/^Version: //p'",
    id: 'junit-gradle-garden',
    runner: 'junit gradle',
    project: 'botanic-garden',
    files: {
      'settings.gradle': "rootProject.name = 'botanic-garden'\n",
      'build.gradle': `apply plugin: 'java'

repositories { flatDir { dirs '/usr/share/java' } }

dependencies {
  testCompile ':junit4'
  testCompile ':hamcrest'
}

test {
  testLogging { exceptionFormat 'full' }
}
`,
      'src/main/java/garden/Garden.java': `package garden;

import java.util.HashMap;
import java.util.Map;

public final class Garden {
  private final Map<String, Plant> plants = new HashMap<>();

  public String family(String name) {
    return plants.get(name).family;
  }

  public int liters(int pots) {
    return pots * 3;
  }

  public void prune(String month) {
    if (!month.equals("March")) {
      throw new UnsupportedOperationException("roses are not pruned in " + month);
    }
  }

  static final class Plant {
    String family;
  }
}
`,
      'src/test/java/garden/GardenTest.java': `package garden;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.junit.Test;

public class GardenTest {
  private final Garden garden = new Garden();

  @Test
  public void rosesInMarch() {
    garden.prune("March");
  }

  @Test
  public void rosesInJune() {
    garden.prune("June");
  }

  @Test
  public void waterForTenPots() {
    assertEquals("liters for ten pots", 25, garden.liters(10));
  }

  @Test
  public void familyOfAWeed() {
    assertEquals("none", garden.family("nettle"));
  }

  @Test
  public void planOfTheBeds() throws Exception {
    assertEquals(12, Files.readAllLines(Paths.get("plans/beds.csv")).size());
  }

  @Test
  public void weatherStation() throws Exception {
    new Socket("127.0.0.1", 9100).close();
  }

  @Test(timeout = 150)
  public void mistIsGone() throws Exception {
    Thread.sleep(3_000);
  }

  @Test
  public void colorsOfTulips() {
    assertArrayEquals(new String[] {"red", "white"}, new String[] {"red", "yellow"});
  }
}
`,
    },
    run: 'gradle --offline --no-daemon --console=plain test',
    report: 'build/test-results/test/TEST-*.xml',
    tally: '8 tests completed, 7 failed',
    failures: [
      {
        ...thrown,
        test: 'rosesInJune',
        message: 'java.lang.UnsupportedOperationException: roses are not pruned in June',
        cause: 'roses-in-june',
      },
      {
        ...assertion,
        test: 'waterForTenPots',
        message: 'liters for ten pots expected:<25> but was:<30>',
        cause: 'liters-per-pot',
      },
      { ...nullReference, test: 'familyOfAWeed', message: 'java.lang.NullPointerException', cause: 'weed' },
      {
        ...missingFile,
        test: 'planOfTheBeds',
        message: 'java.nio.file.NoSuchFileException: plans/beds.csv',
        cause: 'beds-plan',
      },
      {
        ...refused,
        test: 'weatherStation',
        message: 'java.net.ConnectException: Connection refused',
        cause: 'no-weather-station',
      },
      { ...testTimeout, test: 'mistIsGone', message: 'test timed out after 150 milliseconds', cause: 'mist' },
      {
        ...assertion,
        test: 'colorsOfTulips',
        message: 'arrays first differed at element [1]',
        cause: 'tulips',
      },
    ].map((failure) => ({
      ...failure,
      suite: 'garden.GardenTest',
      at: `garden.GardenTest > ${failure.test} FAILED`,
    })),
  },
];

function pom(name: string, surefire: string, dependencies: string): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>${name}</artifactId>
  <version>1.0.0-SNAPSHOT</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>${dependencies}</dependencies>
  <build><plugins>
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>${surefire}</version></plugin>
    <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.13.0</version></plugin>
  </plugins></build>
</project>
`;
}

function dependency(group: string, artifact: string, version: string): string {
  return `
    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version><scope>test</scope></dependency>`;
}
