package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.api.ShardingContext;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What items do: tell that they began, last as long as the test wants, tell that they ended. */
final class Work {

    private final Out out;
    private final Map<String, Duration> durations = new ConcurrentHashMap<>();

    Work(final Out out) {
        this.out = out;
    }

    /** Sets how long each execution of a job lasts from now on; those that are held go by it at once. */
    void last(final String job, final boolean hold, final long millis) {
        durations.computeIfAbsent(job, name -> new Duration()).set(hold, millis);
    }

    void run(final ShardingContext context) {
        out.event(Event.of("begin", context));
        pass(context.getJobName());
        out.event(Event.of("end", context));
    }

    /** Takes as long as was set for a job. */
    void pass(final String job) {
        try {
            durations.computeIfAbsent(job, name -> new Duration()).pass();
        } catch (final InterruptedException ignored) {
            Thread.currentThread().interrupt();
        }
    }

    /** How long executions last: a time, or until the test says otherwise. */
    private static final class Duration {

        private boolean hold;
        private long millis;
        private int released; // how often those that were held were let go

        synchronized void set(final boolean hold, final long millis) {
            this.hold = hold;
            this.millis = millis;
            if (!hold) {
                released++;
            }
            notifyAll();
        }

        void pass() throws InterruptedException {
            long rest;
            synchronized (this) {
                int before = released; // a hold that comes right after is for later executions
                while (hold && released == before) {
                    wait();
                }
                rest = millis;
            }
            Thread.sleep(rest);
        }
    }
}
