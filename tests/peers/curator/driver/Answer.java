package zoolock.peers;

import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** A line for the runner: an answer, or an event, whose id is `!`. */
final class Answer {
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    private final StringBuilder line = new StringBuilder();

    Answer(String id, String word) {
        line.append(id).append(' ').append(word);
    }

    Answer with(String key, Object value) {
        String text = URLEncoder.encode(String.valueOf(value), StandardCharsets.UTF_8).replace("+", "%20");
        line.append(' ').append(key).append('=').append(text);
        return this;
    }

    /** Writes the line at once: several threads write. */
    void tell() {
        synchronized (OUT) {
            OUT.println(line);
            OUT.flush();
        }
    }
}
