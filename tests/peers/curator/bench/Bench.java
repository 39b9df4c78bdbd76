package zoolock.peers.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The workloads of tests/bench with Curator's mutex: Bench HOSTS LOCK_PATH. Obeys commands on standard input, one a
 * line, and answers each with one line of JSON. The README of tests/bench has the commands.
 */
public final class Bench {
    private static final int SESSION_TIMEOUT_MS = 15_000;
    private static final int CONNECTION_TIMEOUT_MS = 10_000;

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework client = CuratorFrameworkFactory.newClient(
                arguments[0], SESSION_TIMEOUT_MS, CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(100, 3))) {
            client.start();
            client.blockUntilConnected();
            serve(new Workloads(client, arguments[1]));
        }
    }

    private static void serve(Workloads workloads) throws IOException {
        System.out.println("ready");
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            try {
                System.out.println(obey(workloads, words));
            } catch (Exception error) {
                throw new IllegalStateException(line, error);
            }
        }
    }

    private static String obey(Workloads workloads, String[] words) throws Exception {
        int first = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        int second = words.length > 2 ? Integer.parseInt(words[2]) : 0;
        return switch (words[0]) {
            case "cycles" -> workloads.cycles(first);
            case "paths" -> workloads.paths(first, second);
            case "share" -> workloads.share(first, second);
            case "queue" -> workloads.queue(first);
            case "drain" -> workloads.drain();
            default -> throw new IllegalArgumentException("unknown command");
        };
    }
}
