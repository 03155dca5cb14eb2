package io.github.elasticron.javapeer;

import org.apache.shardingsphere.elasticjob.api.ShardingContext;

/** Makes events of what the library hands to jobs. */
final class Begin {

    static Event of(final String what, final ShardingContext context) {
        Event event = Event.of(what);
        event.job = context.getJobName();
        event.item = context.getShardingItem();
        event.task = context.getTaskId();
        event.total = context.getShardingTotalCount();
        event.itemParameter = context.getShardingParameter();
        event.jobParameter = context.getJobParameter();
        return event;
    }

    private Begin() {
    }
}
