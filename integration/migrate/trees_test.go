package migrate_test

// What the adapters of Java write, byte for byte.
const (
	config2 = `{"jobName":"order_job","jobClass":"com.acme.OrderJob","jobType":"SIMPLE","cron":"0/1 * * * * ?","shardingTotalCount":3,"shardingItemParameters":"0\u003dA,1\u003dB,2\u003dC","jobParameter":"","failover":true,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`
	script2 = `{"jobName":"sh_job","jobClass":"com.dangdang.ddframe.job.api.script.ScriptJob","jobType":"SCRIPT","cron":"0 0/5 * * * ?","shardingTotalCount":1,"shardingItemParameters":"","jobParameter":"x\u003cy \u0026 \u0027z\u0027","failover":false,"misfire":true,"description":"","jobProperties":{"job_exception_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":"com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"scriptCommandLine":"/opt/job.sh --mode\u003d\"fast\"","monitorExecution":true,"maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,"disabled":false,"overwrite":false}`
	poison2 = `{"jobName":"poison_job","jobClass":"c","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":1,"misfire":null}`
	config3 = "cron: 0/5 * * * * ?\ndescription: ''\ndisabled: false\nfailover: true\njobName: new_job\njobParameter: ''\n" +
		"label: blue\nmaxTimeDiffSeconds: -1\nmisfire: true\nmonitorExecution: true\noverwrite: false\n" +
		"props:\n  script.command.line: /opt/job.sh\nreconcileIntervalMinutes: 10\nshardingItemParameters: 0=A,1=B\n" +
		"shardingTotalCount: 2\nstaticSharding: false\ntimeZone: GMT+08:00\n"
)

// tree2 is a job as 2.1.5 leaves it when its instances have stopped.
func tree2(namespace, job, config string) []string {
	root := "/" + namespace + "/" + job
	return []string{
		root + "/config", config,
		root + "/servers/10.0.0.1", "", root + "/servers/10.0.0.2", "DISABLED",
		root + "/instances", "",
		root + "/sharding/0/instance", "10.0.0.1@-@7", root + "/sharding/1/instance", "10.0.0.2@-@7",
		root + "/sharding/2/instance", "10.0.0.1@-@7", root + "/sharding/2/disabled", "",
		root + "/leader/election/latch", "", root + "/leader/sharding/necessary", "",
		root + "/systemTime/current", "",
	}
}

// tree3 is a job as 3.0.5 leaves it when its instances have stopped.
func tree3(namespace, job, root, config string) []string {
	at := "/" + namespace + "/" + job
	return []string{
		at, root, at + "/config", config,
		at + "/servers/10.0.0.1", "ENABLED", at + "/servers/10.0.0.2", "DISABLED",
		at + "/instances", "", at + "/trigger", "",
		at + "/sharding/0/instance", "10.0.0.1@-@7", at + "/sharding/1/instance", "10.0.0.2@-@7", at + "/sharding/1/disabled", "",
		at + "/leader/election/latch", "", at + "/leader/sharding", "",
	}
}
