package zoolock.peers;

import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** What the driver does for each verb. */
final class Verbs {
    private final boolean leader;
    private final Map<String, Session> sessions = new ConcurrentHashMap<>();
    private final Map<String, ConnectionState> states = new ConcurrentHashMap<>();
    private final Map<String, Lock> locks = new ConcurrentHashMap<>();
    private final Map<String, Guard> guards = new ConcurrentHashMap<>();
    private final Cancels cancels = new Cancels();

    Verbs(boolean leader) {
        this.leader = leader;
    }

    Collection<CuratorFramework> clients() {
        return sessions.values().stream().map(Session::client).toList();
    }

    /** Does what is asked, and answers. */
    void obey(Request request) {
        try {
            Answer answer = switch (request.verb()) {
                case "connect" -> connect(request);
                case "mutex", "reentrant", "read", "write" -> open(request);
                case "lock", "try" -> lock(request);
                case "cancel" -> cancel(request);
                case "release" -> release(request);
                case "state" -> state(request);
                case "session_state" -> ok(request).with("state", Session.word(states.get(request.get("session"))));
                case "close" -> close(request);
                default -> new Answer(request.id(), "misunderstood").with("message", request.verb());
            };
            answer.tell();
        } catch (InterruptedException cancelled) {
            error(request, "Cancelled", cancelled);
        } catch (IllegalMonitorStateException notOwner) {
            error(request, "NotHeld", notOwner);
        } catch (KeeperException.SessionExpiredException over) {
            error(request, "SessionExpired", over);
        } catch (Exception other) {
            error(request, other.getClass().getSimpleName(), other);
        }
    }

    private static Answer ok(Request request) {
        return new Answer(request.id(), "ok");
    }

    private void error(Request request, String kind, Exception problem) {
        Lock lock = request.has("lock") ? locks.get(request.get("lock")) : null;
        String path = lock == null ? "" : lock.path();
        String message = String.valueOf(problem).replace('\n', ' ');
        new Answer(request.id(), "error").with("kind", kind).with("path", path).with("message", message).tell();
    }

    private Answer connect(Request request) throws InterruptedException {
        String name = request.get("session");
        sessions.put(name, new Session(request, state -> changed(name, state)));
        return ok(request);
    }

    /** Curator tells of sessions, not of locks: those that were held are lost with theirs. */
    private void changed(String name, ConnectionState state) {
        states.put(name, state);
        new Answer("!", "state").with("state", Session.word(state)).tell();
        if (state == ConnectionState.LOST) {
            Session session = sessions.get(name);
            guards.values().stream().filter(guard -> guard.lock().session() == session).forEach(Guard::lose);
        }
    }

    private Answer open(Request request) {
        Session session = sessions.get(request.get("session"));
        String path = request.get("path");
        String identity = request.has("data") ? request.get("data") : session.identity();
        byte[] data = identity.getBytes(StandardCharsets.UTF_8);
        Lock lock = switch (request.verb()) {
            case "read", "write" -> {
                InterProcessReadWriteLock both = session.readWriteLock(path, data);
                yield new MutexLock(session, path, request.verb().equals("read") ? both.readLock() : both.writeLock());
            }
            default -> leader ? new LeaderLock(session, path, identity) : new MutexLock(session, path, mutex(session, path, data));
        };
        locks.put(request.get("lock"), lock);
        return ok(request);
    }

    private static InterProcessMutex mutex(Session session, String path, byte[] data) {
        return new InterProcessMutex(session.client(), path) {
            @Override
            protected byte[] getLockNodeBytes() {
                return data;
            }
        };
    }

    private Answer lock(Request request) throws Exception {
        boolean once = request.verb().equals("try");
        long timeoutMs = once ? 0 : request.has("timeout_ms") ? Long.parseLong(request.get("timeout_ms")) : -1;
        Lock lock = locks.get(request.get("lock"));
        Guard guard = new Guard(request.get("guard"), lock);
        Lock.Hold hold = cancels.attempt(request.get("cancel"), () -> lock.acquire(timeoutMs, guard::lose));
        if (hold == null && once) {
            return new Answer(request.id(), "none");
        }
        if (hold == null) {
            String message = "not granted within " + timeoutMs + " ms";
            return new Answer(request.id(), "error").with("kind", "Timeout").with("path", lock.path()).with("message", message);
        }
        guard.granted(hold);
        guards.put(request.get("guard"), guard);
        Stat stat = lock.session().client().checkExists().forPath(hold.node());
        if (stat == null) {
            throw new KeeperException.NoNodeException(hold.node());
        }
        return ok(request).with("token", stat.getCzxid()).with("node", hold.node());
    }

    private Answer cancel(Request request) {
        cancels.fire(request.get("cancel"));
        return ok(request);
    }

    private Answer release(Request request) throws Exception {
        guards.get(request.get("guard")).release();
        return ok(request);
    }

    private Answer state(Request request) {
        Guard guard = guards.get(request.get("guard"));
        String state = guard.state(guard.lock().session().client().getZookeeperClient().isConnected());
        boolean believes = state.equals("held") || state.equals("suspended");
        return ok(request).with("state", state).with("held", believes ? "yes" : "no");
    }

    private Answer close(Request request) {
        sessions.get(request.get("session")).client().close();
        return ok(request);
    }
}
