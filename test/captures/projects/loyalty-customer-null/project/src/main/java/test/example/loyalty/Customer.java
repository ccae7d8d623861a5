package test.example.loyalty;

public record Customer(String id, String name, Membership membership) {}
