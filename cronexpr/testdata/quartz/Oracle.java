import java.time.Instant;
import java.util.Date;
import java.util.StringJoiner;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.quartz.CronExpression;

/** Asks Quartz. */
final class Oracle {
    /** Quartz's years end a hundred years after the current one, so this bound holds in any year. */
    private static final Instant END = Instant.parse("2100-01-01T00:00:00Z");

    /** The next {@code count} fires after {@code start}, those from 2100 on left out, as steps. */
    static String fires(String expression, String zone, long start, int count) throws Exception {
        CronExpression cron = new CronExpression(expression);
        cron.setTimeZone(TimeZone.getTimeZone(zone));
        StringJoiner steps = new StringJoiner(" ");
        Date at = new Date(start * 1000);
        for (int i = 0; i < count; i++) {
            Date next = cron.getNextValidTimeAfter(at);
            if (next == null || !next.toInstant().isBefore(END)) {
                break;
            }
            steps.add(Long.toString((next.getTime() - at.getTime()) / 1000));
            at = next;
        }
        return steps.toString();
    }

    /** Whether Quartz takes the expression, and then its fires in UTC. */
    static String verdict(String expression, long start, int count) throws InterruptedException {
        if (!CronExpression.isValidExpression(expression)) {
            return "reject";
        }
        FutureTask<String> ask = new FutureTask<>(() -> fires(expression, "UTC", start, count));
        Thread thread = new Thread(ask); // Quartz cannot be interrupted in a loop
        thread.setDaemon(true);
        thread.start();
        try {
            return "accept\t" + ask.get(5, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return "broken";
        }
    }
}
