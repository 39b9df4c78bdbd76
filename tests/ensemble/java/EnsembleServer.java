import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * A ZooKeeper server that also obeys its parent on standard input, one command a line, one answer
 * a line on standard output. It ends when standard input does, so it cannot outlive its parent.
 *
 * <p>Usage: {@code EnsembleServer standalone|quorum zoo.cfg}. It is the real server: only the way
 * of starting it differs from {@code zkServer.sh}, because ending somebody else's session needs the
 * server object.
 */
public final class EnsembleServer {
    /** Finds the running server object, or null while there is none. */
    private interface Finder {
        ZooKeeperServer find() throws Exception;
    }

    private static final class Standalone extends ZooKeeperServerMain {
        ZooKeeperServer server() throws ReflectiveOperationException {
            Object factory = field(ZooKeeperServerMain.class, "cnxnFactory").get(this);
            if (factory == null) {
                return null;
            }
            return (ZooKeeperServer) field(ServerCnxnFactory.class, "zkServer").get(factory);
        }
    }

    private static final class Quorum extends QuorumPeerMain {
        ZooKeeperServer server() {
            return quorumPeer == null ? null : quorumPeer.getActiveServer();
        }
    }

    private static Field field(Class<?> of, String name) throws ReflectiveOperationException {
        Field field = of.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        // Whatever the server prints goes to the log, so that answers stay alone on their stream.
        System.setOut(System.err);
        if (args[0].equals("standalone")) {
            Standalone main = new Standalone();
            obey(answers, main::server);
            ServerConfig config = new ServerConfig();
            config.parse(args[1]);
            main.runFromConfig(config);
        } else {
            Quorum main = new Quorum();
            obey(answers, main::server);
            QuorumPeerConfig config = new QuorumPeerConfig();
            config.parse(args[1]);
            main.runFromConfig(config);
        }
        System.exit(0);
    }

    private static void obey(PrintStream answers, Finder finder) {
        Thread thread = new Thread(() -> {
            try {
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    String answer;
                    try {
                        answer = answer(line.trim().split(" "), finder.find());
                    } catch (Exception e) {
                        answer = "error " + e;
                    }
                    answers.println(answer);
                    answers.flush();
                }
            } catch (Exception e) {
                e.printStackTrace();
            }
            Runtime.getRuntime().halt(0);
        }, "ensemble-control");
        thread.setDaemon(true);
        thread.start();
    }

    private static String answer(String[] words, ZooKeeperServer server) {
        if (server == null || server.getZKDatabase() == null) {
            return "error the server is not serving";
        }
        Map<Long, Integer> sessions = server.getZKDatabase().getSessionWithTimeOuts();
        switch (words[0]) {
            case "sessions":
                StringBuilder list = new StringBuilder("ok");
                new TreeMap<>(sessions).forEach((id, timeout) ->
                    list.append(' ').append(Long.toHexString(id)).append(':').append(timeout));
                return list.toString();
            case "expire":
                long id = Long.parseUnsignedLong(words[1], 16);
                if (!sessions.containsKey(id)) {
                    return "error no such session";
                }
                server.closeSession(id);
                return "ok";
            default:
                return "error unknown command";
        }
    }

    private EnsembleServer() {}
}
