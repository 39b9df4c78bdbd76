package zoolock.peers;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** A request of the runner: `id verb key=value …`. */
record Request(String id, String verb, Map<String, String> fields) {
    static Request parse(String line) {
        String[] words = line.trim().split(" +");
        Map<String, String> fields = new HashMap<>();
        for (int index = 2; index < words.length; index++) {
            String[] pair = words[index].split("=", 2);
            // A plus is a plus here.
            String value = pair[1].replace("+", "%2B");
            fields.put(pair[0], URLDecoder.decode(value, StandardCharsets.UTF_8));
        }
        return new Request(words[0], words[1], fields);
    }

    String get(String key) {
        return fields.get(key);
    }

    boolean has(String key) {
        return fields.containsKey(key);
    }
}
