import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.h2.mvstore.MVStore;

/**
 * A server for tests that speaks MongoDB's protocol: arguments are a port and a folder. What it acknowledged is in the folder, even
 * after SIGKILL. While the folder has a file named "full", it refuses writes as a server does whose disk is full.
 */
public class Launcher {
  private static final List<String> WRITES = List.of("insert", "update", "findAndModify", "delete", "createIndexes");
  private static final int OUT_OF_DISK_SPACE = 14031;

  public static void main(String[] args) {
    Path folder = Path.of(args[1]);
    MVStore store = new MVStore.Builder().fileName(folder.resolve("data.mv").toString()).autoCommitDisabled().open();
    H2Backend backend = new H2Backend(store) {
      @Override
      public Document handleMessage(MongoMessage message) {
        boolean writes = message.getDocument().keySet().stream().anyMatch(WRITES::contains);
        boolean deletes = message.getDocument().containsKey("delete");
        if (writes && !deletes && Files.exists(folder.resolve("full"))) {
          Document refusal = new Document("ok", 0);
          return refusal.append("code", OUT_OF_DISK_SPACE).append("codeName", "OutOfDiskSpace").append("errmsg", "No space left on device");
        }
        Document answer = super.handleMessage(message);
        if (writes) store.commit();
        return answer;
      }
    };
    backend.version(new Version());
    new MongoServer(backend).bind("127.0.0.1", Integer.parseInt(args[0]));
  }

  /** What today's drivers ask for at least; the library itself says less of itself than it can. */
  private static class Version implements MongoVersion {
    @Override
    public List<Integer> getVersionArray() {
      return List.of(5, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 13;
    }
  }
}
