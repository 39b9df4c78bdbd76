package zoolock.peers.bench;

import java.util.Arrays;
import java.util.stream.Collectors;

/** Times, one after the other. */
final class Numbers {
    private long[] numbers = new long[1024];
    private int count;

    void add(long number) {
        if (count == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * count);
        }
        numbers[count++] = number;
    }

    /** As JSON. */
    @Override
    public String toString() {
        return Arrays.stream(numbers, 0, count).mapToObj(Long::toString).collect(Collectors.joining(",", "[", "]"));
    }
}
