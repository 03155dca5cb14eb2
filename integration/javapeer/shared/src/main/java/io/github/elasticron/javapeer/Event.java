package io.github.elasticron.javapeer;

/** What happened here. */
final class Event {

    String event;
    String job;
    Integer item;
    String task;
    Integer total;
    String itemParameter;
    String jobParameter;
    Long time;

    static Event of(final String what) {
        Event event = new Event();
        event.event = what;
        event.time = System.currentTimeMillis();
        return event;
    }

    /** Returns another event of the same execution, now. */
    Event then(final String what) {
        Event event = of(what);
        event.job = job;
        event.item = item;
        event.task = task;
        event.total = total;
        event.itemParameter = itemParameter;
        event.jobParameter = jobParameter;
        return event;
    }
}
