package zoolock.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.curator.framework.CuratorFramework;

/**
 * Curator's locks as a driver: it obeys the protocol of tests/conformance, as far as Curator can. With the argument
 * `leader` a mutex is a place in the election of a LeaderSelector.
 */
public final class Driver {
    private final Verbs verbs;
    /** Curator's locks belong to threads: to that of the scenario, or to one of each guard's own. */
    private final Map<String, ExecutorService> threads = new HashMap<>();
    private final ExecutorService others = Executors.newCachedThreadPool(Driver::daemon);

    private Driver(Verbs verbs) {
        this.verbs = verbs;
    }

    public static void main(String[] arguments) throws IOException {
        boolean leader = arguments.length > 0 && arguments[0].equals("leader");
        new Driver(new Verbs(leader)).serve();
    }

    private void serve() throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Request request = Request.parse(line);
            if (request.verb().equals("exit")) {
                break;
            }
            threadOf(request).execute(() -> verbs.obey(request));
        }
        // As programs do that end in an orderly way.
        verbs.clients().forEach(CuratorFramework::close);
        System.exit(0);
    }

    private ExecutorService threadOf(Request request) {
        String name = request.get("thread");
        if (name == null) {
            // The state is asked of a guard that its own thread may wait for.
            name = request.has("guard") && !request.verb().equals("state") ? "guard " + request.get("guard") : null;
        }
        return name == null ? others : threads.computeIfAbsent(name, any -> Executors.newSingleThreadExecutor(Driver::daemon));
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }
}
