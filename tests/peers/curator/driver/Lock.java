package zoolock.peers;

/** A lock of Curator's, of whichever recipe. */
interface Lock {
    /** A hold on it. */
    interface Hold {
        /** The node that it has. */
        String node();

        void release() throws Exception;
    }

    /** The session that it was made from. */
    Session session();

    String path();

    /**
     * Waits for it. An interrupt ends the wait.
     *
     * @param timeoutMs how long at most; negative for without end
     * @param lost is run if Curator takes the hold away
     * @return null if it was not granted in time
     */
    Hold acquire(long timeoutMs, Runnable lost) throws Exception;
}
