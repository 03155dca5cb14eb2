package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.api.ShardingContext;

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

    static Event of(final String what, final ShardingContext context) {
        Event event = of(what);
        event.job = context.getJobName();
        event.item = context.getShardingItem();
        event.task = context.getTaskId();
        event.total = context.getShardingTotalCount();
        event.itemParameter = context.getShardingParameter();
        event.jobParameter = context.getJobParameter();
        return event;
    }
}
