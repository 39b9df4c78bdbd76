import java.io.BufferedReader;
import java.io.InputStreamReader;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

/** Curator's mutex as a program: see peer.rs for what it is told and says. */
public final class CuratorPeer {
    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(arguments[0])
                .sessionTimeoutMs(4000)
                .connectionTimeoutMs(4000)
                .retryPolicy(new RetryForever(50))
                .build();
        client.getConnectionStateListenable().addListener((there, state) -> {
            if (state == ConnectionState.LOST) {
                say("lost");
            }
        });
        client.start();
        client.blockUntilConnected();
        say("session " + client.getZookeeperClient().getZooKeeper().getSessionId());
        InterProcessMutex mutex = new InterProcessMutex(client, arguments[1]);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            switch (order) {
                case "lock" -> {
                    mutex.acquire();
                    say("locked");
                }
                case "unlock" -> {
                    mutex.release();
                    say("unlocked");
                }
                default -> throw new IllegalArgumentException(order);
            }
        }
        client.close();
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
