package zoolock.peers;

import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.LockPath;

/** An InterProcessMutex, or a side of an InterProcessReadWriteLock, which is one too. */
record MutexLock(Session session, String path, InterProcessMutex mutex) implements Lock {
    private record Held(InterProcessMutex mutex, String node) implements Hold {
        @Override
        public void release() throws Exception {
            mutex.release();
        }
    }

    @Override
    public Hold acquire(long timeoutMs, Runnable lost) throws Exception {
        if (timeoutMs < 0) {
            mutex.acquire();
        } else if (!mutex.acquire(timeoutMs, TimeUnit.MILLISECONDS)) {
            return null;
        }
        return new Held(mutex, LockPath.of(mutex));
    }
}
