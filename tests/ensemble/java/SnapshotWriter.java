import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * Writes a snapshot for a server's empty data directory: {@code SnapshotWriter dataDir...}.
 *
 * <p>Standard input has one node a line, {@code path counter}: parents first, and {@code counter}
 * is the node's internal child version, which is the number its next sequential child gets.
 */
public final class SnapshotWriter {
    public static void main(String[] args) throws Exception {
        DataTree tree = new DataTree();
        long zxid = 0;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int space = line.lastIndexOf(' ');
            String path = line.substring(0, space);
            int counter = Integer.parseInt(line.substring(space + 1));
            zxid++;
            if (tree.getNode(path) == null) {
                tree.createNode(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, 0, -1, zxid, 1);
            }
            if (counter > 0) {
                tree.setCversionPzxid(path, counter, zxid);
            }
        }
        tree.lastProcessedZxid = zxid;
        for (String dir : args) {
            FileTxnSnapLog log = new FileTxnSnapLog(new File(dir), new File(dir));
            save(log, tree);
            log.close();
        }
    }

    /** {@code save} gained a third parameter, whether to sync the file, in 3.5. */
    private static void save(FileTxnSnapLog log, DataTree tree) throws Exception {
        ConcurrentHashMap<Long, Integer> sessions = new ConcurrentHashMap<>();
        for (Method method : FileTxnSnapLog.class.getMethods()) {
            if (!method.getName().equals("save")) {
                continue;
            }
            if (method.getParameterCount() == 3) {
                method.invoke(log, tree, sessions, true);
            } else {
                method.invoke(log, tree, sessions);
            }
            return;
        }
        throw new IllegalStateException("this ZooKeeper has no FileTxnSnapLog.save");
    }

    private SnapshotWriter() {}
}
