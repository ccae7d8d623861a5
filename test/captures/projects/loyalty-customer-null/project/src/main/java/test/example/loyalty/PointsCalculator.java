package test.example.loyalty;

public final class PointsCalculator {
  private PointsCalculator() {}

  /** One point per full ten units of currency, given in cents. */
  public static int pointsFor(long cents) {
    if (cents < 0) throw new IllegalArgumentException("amount must not be negative: " + cents);
    return Math.toIntExact(cents / 1000);
  }
}
