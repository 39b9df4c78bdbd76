package zoolock.peers;

/** A hold that was granted, and what has become of it. */
final class Guard {
    private final String name;
    private final Lock lock;
    private Lock.Hold hold;
    private boolean lost;
    private boolean released;

    Guard(String name, Lock lock) {
        this.name = name;
        this.lock = lock;
    }

    Lock lock() {
        return lock;
    }

    synchronized void granted(Lock.Hold granted) {
        hold = granted;
    }

    /** Curator has said that it is lost. */
    synchronized void lose() {
        if (hold != null && !lost && !released) {
            lost = true;
            new Answer("!", "lost").with("guard", name).tell();
        }
    }

    void release() throws Exception {
        Lock.Hold held;
        synchronized (this) {
            released = true;
            held = hold;
        }
        held.release();
    }

    synchronized String state(boolean connected) {
        if (released) {
            return "released";
        }
        if (lost) {
            return "lost";
        }
        return connected ? "held" : "suspended";
    }
}
