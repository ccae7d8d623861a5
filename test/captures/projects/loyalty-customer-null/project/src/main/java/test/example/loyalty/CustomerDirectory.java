package test.example.loyalty;

import java.util.HashMap;
import java.util.Map;

public final class CustomerDirectory {
  private final Map<String, Customer> customers = new HashMap<>();

  public void add(Customer customer) {
    customers.put(customer.id(), customer);
  }

  public Customer find(String id) {
    return customers.get(id);
  }
}
