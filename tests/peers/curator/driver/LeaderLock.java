package zoolock.peers;

import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.LockPath;

/** A place in the election of a LeaderSelector, as Curator recommends to use it: a suspended connection ends the term. */
record LeaderLock(Session session, String path, String identity) implements Lock {
    /** A term: begins when Curator says so, and ends when we do or it does. */
    private static final class Term extends LeaderSelectorListenerAdapter implements Hold {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final Runnable lost;
        private final LeaderSelector selector;
        private volatile String node;
        private volatile boolean released;

        Term(CuratorFramework client, String path, String identity, Runnable lost) {
            this.lost = lost;
            selector = new LeaderSelector(client, path, this);
            selector.setId(identity);
            // Without this a suspended connection ends the wait for a term, too.
            selector.autoRequeue();
        }

        @Override
        public void takeLeadership(CuratorFramework client) throws Exception {
            // On the thread that holds the selector's mutex.
            Field mutex = LeaderSelector.class.getDeclaredField("mutex");
            mutex.setAccessible(true);
            node = LockPath.of((InterProcessMutex) mutex.get(selector));
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } finally {
                if (!released) {
                    lost.run();
                    // Not to stand for another term. This thread has to give up its place first.
                    new Thread(selector::close).start();
                }
            }
        }

        boolean begin(long timeoutMs) throws InterruptedException {
            selector.start();
            try {
                if (timeoutMs < 0) {
                    begun.await();
                } else if (!begun.await(timeoutMs, TimeUnit.MILLISECONDS)) {
                    selector.close();
                    return false;
                }
                return true;
            } catch (InterruptedException cancelled) {
                selector.close();
                throw cancelled;
            }
        }

        @Override
        public String node() {
            return node;
        }

        @Override
        public void release() {
            released = true;
            selector.close();
        }
    }

    @Override
    public Hold acquire(long timeoutMs, Runnable lost) throws Exception {
        Term term = new Term(session.client(), path, identity, lost);
        return term.begin(timeoutMs) ? term : null;
    }
}
