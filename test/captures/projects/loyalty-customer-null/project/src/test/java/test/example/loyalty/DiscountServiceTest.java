package test.example.loyalty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DiscountServiceTest {
  private final CustomerDirectory directory = new CustomerDirectory();
  private DiscountService discounts;

  @BeforeEach
  void fillDirectory() {
    directory.add(new Customer("c-1", "Ada", new Membership("gold", 5200)));
    directory.add(new Customer("c-2", "Tove", new Membership("silver", 900)));
    directory.add(new Customer("c-3", "Guest", null));
    discounts = new DiscountService(directory);
  }

  @Test
  void goldMembersGetFifteenPercent() {
    assertEquals(15, discounts.percentFor("c-1"));
  }

  @Test
  void silverMembersGetEightPercent() {
    assertEquals(8, discounts.percentFor("c-2"));
  }

  @Test
  void guestsWithoutMembershipPayFullPrice() {
    assertEquals(0, discounts.percentFor("c-3"));
  }
}
