package test.example.newsletter;

import com.google.common.base.Joiner;
import java.util.List;

public final class Subject {
  private Subject() {}

  public static String of(List<String> headlines) {
    return Joiner.on(" / ").join(headlines.subList(0, Math.min(3, headlines.size())));
  }
}
