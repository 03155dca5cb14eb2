import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * Writes a golden file to standard output, one case a line, columns separated by tabs.
 *
 * <p>{@code times}: zone, expression, start (Unix seconds), then the seconds from each time to the
 * next: from the start to the first fire, from the first fire to the second, and so on.
 *
 * <p>{@code nearmisses}: expression, what Quartz says to it: {@code reject}, {@code broken} (it
 * takes the expression, but finds no time without failing or looping), or {@code accept} with the
 * times that follow {@link #NEAR_MISS_START} in UTC, written as above.
 */
public final class Generate {
    static final int CASES = 8000;
    static final int NEAR_MISSES = 6000;
    static final int FIRES = 12;
    static final long NEAR_MISS_START = 1_709_164_799L; // 2024-02-28T23:59:59Z, before a leap day

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Random random = new Random(Long.parseLong(args[1]));
        switch (args[0]) {
            case "times" -> times(random, out);
            case "nearmisses" -> nearMisses(random, out);
            default -> throw new IllegalArgumentException(args[0]);
        }
        out.flush();
        System.exit(0); // whatever Quartz still loops in
    }

    private static void times(Random random, PrintStream out) throws Exception {
        Expressions expressions = new Expressions(random);
        Starts starts = new Starts(random);
        for (int i = 0; i < CASES; i++) {
            String expression = expressions.next();
            String zone = starts.zone();
            long start = starts.near(zone);
            String fires = Oracle.fires(expression, zone, start, FIRES);
            out.println(zone + "\t" + expression + "\t" + start + "\t" + fires);
        }
    }

    private static void nearMisses(Random random, PrintStream out) throws Exception {
        NearMisses misses = new NearMisses(random);
        for (int i = 0; i < NEAR_MISSES; i++) {
            String expression = misses.next();
            out.println(expression + "\t" + Oracle.verdict(expression, NEAR_MISS_START, FIRES));
        }
    }
}
