package test.example.loyalty;

public record Membership(String tier, int points) {}
