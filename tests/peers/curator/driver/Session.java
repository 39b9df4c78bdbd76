package zoolock.peers;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

/** A client of Curator's, and what is shared by its locks. */
final class Session {
    private final CuratorFramework client;
    private final String identity;
    /** Both sides on a path belong to one object, or there is no downgrade. */
    private final Map<String, InterProcessReadWriteLock> readWriteLocks = new HashMap<>();

    Session(Request request, Consumer<ConnectionState> changed) throws InterruptedException {
        identity = request.get("identity");
        int timeoutMs = Integer.parseInt(request.get("session_timeout_ms"));
        client = CuratorFrameworkFactory.builder()
                .connectString(request.get("hosts"))
                .sessionTimeoutMs(timeoutMs)
                .connectionTimeoutMs(timeoutMs)
                .retryPolicy(new RetryForever(50))
                .build();
        client.getConnectionStateListenable().addListener((any, state) -> changed.accept(state));
        client.start();
        client.blockUntilConnected();
    }

    CuratorFramework client() {
        return client;
    }

    String identity() {
        return identity;
    }

    synchronized InterProcessReadWriteLock readWriteLock(String path, byte[] data) {
        return readWriteLocks.computeIfAbsent(path, any -> new InterProcessReadWriteLock(client, path, data));
    }

    /** The state as the protocol names it, or nothing for one that no other library has. */
    static String word(ConnectionState state) {
        return switch (state) {
            case CONNECTED, RECONNECTED -> "connected";
            case SUSPENDED -> "suspended";
            case LOST -> "expired";
            case READ_ONLY -> "";
        };
    }
}
