package test.example.loyalty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PointsCalculatorTest {
  @ParameterizedTest
  @CsvSource({"0, 0", "999, 0", "1000, 1", "25990, 25", "1000000, 1000"})
  void countsFullTens(long cents, int points) {
    assertEquals(points, PointsCalculator.pointsFor(cents));
  }

  @Test
  void refusesNegativeAmounts() {
    assertThrows(IllegalArgumentException.class, () -> PointsCalculator.pointsFor(-1));
  }
}
