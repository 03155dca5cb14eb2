package javapeer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that waits for itself is told from one that waits for what it runs.
func TestHangs(t *testing.T) {
	t.Parallel()
	const worker = `"long_Worker-1" #32 prio=5 waiting for monitor entry
	at org.apache.shardingsphere.elasticjob.lite.internal.schedule.JobScheduleController.triggerJob(JobScheduleController.java:160)
	- waiting to lock <0x1> (a org.apache.shardingsphere.elasticjob.lite.internal.schedule.JobScheduleController)
	at org.quartz.simpl.SimpleThreadPool$WorkerThread.run(SimpleThreadPool.java:573)`
	const busy = `"long_Worker-1" #32 prio=5 in Object.wait()
	at io.github.elasticron.javapeer.Work.run(Work.java:40)
	at org.apache.shardingsphere.elasticjob.lite.internal.schedule.LiteJob.execute(LiteJob.java:35)
	at org.quartz.simpl.SimpleThreadPool$WorkerThread.run(SimpleThreadPool.java:573)`
	const hook = `"Quartz Shutdown-Hook long" #34 prio=5 in Object.wait()
	at org.quartz.core.QuartzSchedulerThread.halt(QuartzSchedulerThread.java:182)
	at org.apache.shardingsphere.elasticjob.lite.internal.schedule.JobScheduleController.shutdown(JobScheduleController.java:194)
	- locked <0x1> (a org.apache.shardingsphere.elasticjob.lite.internal.schedule.JobScheduleController)`
	for name, tt := range map[string]struct {
		threads []string
		hangs   bool
	}{
		"for itself":         {[]string{worker, hook}, true},
		"for another job":    {[]string{strings.ReplaceAll(worker, "<0x1>", "<0x2>"), hook}, false},
		"for what it runs":   {[]string{busy, hook}, false},
		"it does not exit":   {[]string{worker}, false},
		"no thread is shown": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.hangs, hangs(strings.Join(tt.threads, "\n\n")))
		})
	}
}
