package test.example.bakery;

import com.google.gson.Gson;

public record Order(String customer, int loaves) {
  public String toJson() {
    return new Gson().toJson(this);
  }
}
