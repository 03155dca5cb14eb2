package io.github.elasticron.javapeer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** What items do: tell that they began, last as long as the test wants, tell that they ended. */
final class Work {

    private final Out out;
    private final Map<String, Duration> durations = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> batches = new ConcurrentHashMap<>();

    Work(final Out out) {
        this.out = out;
    }

    /** Sets how long each execution of a job, or of JOB/ITEM, lasts from now on; those that are held go by it at once. */
    void last(final String job, final boolean hold, final long millis) {
        durations.computeIfAbsent(job, name -> new Duration()).set(hold, millis);
    }

    /** Lets go of the executions of a job that are held; later ones last as before. */
    void release(final String job) {
        durations.computeIfAbsent(job, name -> new Duration()).release();
    }

    void run(final Event begin) {
        out.event(begin);
        pass(begin.job);
        pass(begin.job + "/" + begin.item);
        out.event(begin.then("end"));
    }

    /** Tells of something that is no execution. */
    void tell(final Event event) {
        out.event(event);
    }

    /** Sets how many batches of data a job has for this process. */
    void feed(final String job, final int count) {
        batches.computeIfAbsent(job, name -> new AtomicInteger()).set(count);
    }

    /** Takes one batch, and tells whether there was one. */
    boolean fetch(final String job) {
        return batches.computeIfAbsent(job, name -> new AtomicInteger()).getAndUpdate(left -> Math.max(0, left - 1)) > 0;
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

        synchronized void release() {
            released++;
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
