package test.example.loyalty;

public final class DiscountService {
  private final CustomerDirectory directory;

  public DiscountService(CustomerDirectory directory) {
    this.directory = directory;
  }

  /** Percent taken off an order; guests pay the full price. */
  public int percentFor(String customerId) {
    Customer customer = directory.find(customerId);
    if (customer == null || customer.membership() == null) return 0;
    return switch (customer.membership().tier()) {
      case "gold" -> 15;
      case "silver" -> 8;
      default -> 2;
    };
  }
}
