package org.apache.curator.framework.recipes.locks;

/** Asks a mutex for its node, which Curator tells its own package only. */
public final class LockPath {
    private LockPath() {}

    /** The node of the mutex that the calling thread holds. */
    public static String of(InterProcessMutex mutex) {
        return mutex.getLockPath();
    }
}
