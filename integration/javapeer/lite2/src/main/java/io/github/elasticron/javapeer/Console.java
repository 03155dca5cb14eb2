package io.github.elasticron.javapeer;

import com.dangdang.ddframe.job.lite.lifecycle.api.JobAPIFactory;
import com.dangdang.ddframe.job.lite.lifecycle.api.JobOperateAPI;
import com.dangdang.ddframe.job.lite.lifecycle.api.JobSettingsAPI;
import com.dangdang.ddframe.job.lite.lifecycle.api.ShardingOperateAPI;
import com.dangdang.ddframe.job.lite.lifecycle.domain.JobSettings;
import com.dangdang.ddframe.job.lite.lifecycle.domain.ServerBriefInfo;
import com.google.common.base.Optional;
import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an operator does in the Java console. */
final class Console {

    private final String servers;
    private final String namespace;
    private final Optional<String> digest;

    Console(final Request request) {
        servers = request.servers;
        namespace = request.namespace;
        digest = Optional.fromNullable(request.digest);
    }

    Object carryOut(final Request request) {
        Optional<String> job = Optional.fromNullable(request.job);
        Optional<String> ip = Optional.fromNullable(request.ip);
        switch (request.op) {
            case "console-trigger":
                operate().trigger(job, ip);
                return null;
            case "console-disable":
                operate().disable(job, ip);
                return null;
            case "console-enable":
                operate().enable(job, ip);
                return null;
            case "console-shutdown":
                operate().shutdown(job, ip);
                return null;
            case "console-remove":
                operate().remove(job, ip);
                return null;
            case "console-disable-item":
                items().disable(request.job, String.valueOf(request.item));
                return null;
            case "console-enable-item":
                items().enable(request.job, String.valueOf(request.item));
                return null;
            case "console-settings":
                return settings().getJobSettings(request.job);
            case "console-update-settings":
                settings().updateJobSettings(new Gson().fromJson(request.text, JobSettings.class));
                return null;
            case "console-remove-settings":
                settings().removeJobSettings(request.job);
                return null;
            case "console-jobs":
                return JobAPIFactory.createJobStatisticsAPI(servers, namespace, digest).getAllJobsBriefInfo();
            case "console-items":
                return JobAPIFactory.createShardingStatisticsAPI(servers, namespace, digest).getShardingInfo(request.job);
            case "console-servers":
                return servers();
            default:
                throw new IllegalArgumentException("unknown request " + request.op);
        }
    }

    private List<Map<String, Object>> servers() {
        List<Map<String, Object>> result = new ArrayList<>();
        for (ServerBriefInfo each : JobAPIFactory.createServerStatisticsAPI(servers, namespace, digest).getAllServersBriefInfo()) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("serverIp", each.getServerIp());
            line.put("instances", each.getInstancesNum());
            line.put("jobs", each.getJobsNum());
            line.put("disabledJobs", each.getDisabledJobsNum().intValue());
            result.add(line);
        }
        return result;
    }

    private JobOperateAPI operate() {
        return JobAPIFactory.createJobOperateAPI(servers, namespace, digest);
    }

    private ShardingOperateAPI items() {
        return JobAPIFactory.createShardingOperateAPI(servers, namespace, digest);
    }

    private JobSettingsAPI settings() {
        return JobAPIFactory.createJobSettingsAPI(servers, namespace, digest);
    }
}
