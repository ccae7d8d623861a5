Feature: Portions
  Scenario: Twice as many
    Given a recipe for 4 with 200 g of rice
    When I cook for 8
    Then I need 400 g of rice

  Scenario: One more guest
    Given a recipe for 4 with 250 g of rice
    When I cook for 6
    Then I need 375 g of rice
