import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
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
        shortMonths(out);
        midnightGap(out);
    }

    /** The gap of Dhaka in 2009, from 23:00 on 19 June, ends at midnight: as no other of the drawn zones has it. */
    private static void midnightGap(PrintStream out) throws Exception {
        String zone = "Asia/Dhaka";
        String[] expressions = {
            "0 0 * * * ?", "0 0/15 * * * ?", "0 30 9 * * ?", "0 0 0 * * ?", "0 30 23 * * ?", "0 0 0/6 * * ?",
            "0 0 12 20 6 ?", "0 0 12 ? * SAT", "0 59 23 * * ?", "0 0 0,12 19-21 6 ?",
        };
        for (String expression : expressions) {
            for (String start : new String[] {"06-18T12:00", "06-19T10:00", "06-19T16:59", "06-19T17:00", "06-20T01:00", "06-20T17:00"}) {
                long second = Instant.parse("2009-" + start + ":00Z").getEpochSecond() - 1;
                out.println(zone + "\t" + expression + "\t" + second + "\t" + Oracle.fires(expression, zone, second, FIRES));
            }
        }
    }

    /**
     * Days that a month lacks, nearest to which a working day is asked for: what Quartz answers hangs on
     * whether it is asked before the month or within it. 2002 to 2036 have every calendar there is.
     */
    private static void shortMonths(PrintStream out) throws Exception {
        String[] times = {"0 0 0", "0 30 12", "0 0 0/8"};
        String[] days = {"29W", "30W", "31W"};
        String[] months = {"*", "2", "1,2", "2,3", "1-6/1"};
        int turn = 0;
        for (int year = 2002; year <= 2036; year++) {
            for (String day : days) {
                for (String month : months) {
                    String expression = times[turn++ % times.length] + " " + day + " " + month + " ?";
                    for (String date : new String[] {"01-15", "01-29", "01-30", "01-31", "02-10", "03-31", "04-20"}) {
                        long start = Instant.parse(year + "-" + date + "T06:00:00Z").getEpochSecond();
                        out.println("UTC\t" + expression + "\t" + start + "\t" + Oracle.fires(expression, "UTC", start, FIRES));
                    }
                }
            }
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
