package io.github.elasticron.javapeer;

import java.util.Map;
import org.apache.shardingsphere.elasticjob.api.JobConfiguration;

/** A job as a Java application declares it. */
final class JobSpec {

    String name;
    String cron;
    int total;
    String itemParameters = "";
    String jobParameter = "";
    String strategy = "";
    String script; // makes it a script job
    boolean failover;
    boolean misfire = true;
    boolean monitorExecution = true;
    boolean disabled;
    boolean overwrite;

    String type = ""; // DATAFLOW, HTTP or SCRIPT; empty is a simple job
    String timeZone = "";
    boolean staticSharding;
    int reconcileMinutes = 10;
    String executor = "";
    String errorHandler = "";
    String description = "";
    String label = "";
    String[] listeners = {};
    Map<String, String> props = Map.of();

    JobConfiguration configuration() {
        JobConfiguration.Builder job = JobConfiguration.newBuilder(name, total)
                .shardingItemParameters(itemParameters).jobParameter(jobParameter)
                .failover(failover).misfire(misfire).monitorExecution(monitorExecution).disabled(disabled).overwrite(overwrite)
                .staticSharding(staticSharding).reconcileIntervalMinutes(reconcileMinutes).jobListenerTypes(listeners)
                .description(description);
        if (!cron.isEmpty()) {
            job.cron(cron);
        }
        if (!timeZone.isEmpty()) {
            job.timeZone(timeZone);
        }
        if (!strategy.isEmpty()) {
            job.jobShardingStrategyType(strategy);
        }
        if (!executor.isEmpty()) {
            job.jobExecutorServiceHandlerType(executor);
        }
        if (!errorHandler.isEmpty()) {
            job.jobErrorHandlerType(errorHandler);
        }
        if (!label.isEmpty()) {
            job.label(label);
        }
        if (script != null) {
            job.setProperty("script.command.line", script);
        }
        props.forEach(job::setProperty);
        return job.build();
    }

    /** The word by which the library finds what runs the job; empty where a class does. */
    String word() {
        return script != null ? "SCRIPT" : type.equals("DATAFLOW") ? "" : type;
    }
}
