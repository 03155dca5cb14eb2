package mixed

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// What works beside Elastic-Job-Lite 2.1.5 works beside ElasticJob 3.x.
func TestMixedWithElasticJob3(t *testing.T) {
	t.Parallel()
	need(t)
	javapeer.ElasticJob3.Need(t)
	processes := java{
		first:  javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP(ipFirst)),
		last:   javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP(ipLast)),
		layout: jobtree.ElasticJob3,
	}
	for name, test := range map[string]func(*testing.T, java){
		"OneAssignmentWhoeverLeads/average":    oneAssignmentWhoeverLeads("average_orders", ""),
		"OneAssignmentWhoeverLeads/odevity":    oneAssignmentWhoeverLeads("odevity_orders", "ODEVITY"),
		"OneAssignmentWhoeverLeads/rotate":     oneAssignmentWhoeverLeads("rotate_orders", "ROUND_ROBIN"),
		"StaticSharding":                       staticSharding,
		"JavaDoesNotWaitForGo":                 javaDoesNotWaitForGo,
		"JavaWaitsInTheLatchForGo":             javaWaitsInTheLatchForGo,
		"GoWaitsInTheLatchForJava":             goWaitsInTheLatchForJava,
		"TheGoLeaderIsKilled":                  theGoLeaderIsKilled,
		"AGoInstanceIsKilledUnderAJavaLeader":  aGoInstanceIsKilledUnderAJavaLeader,
		"TheConsoleTriggers":                   theConsoleTriggers,
		"GoTriggers":                           goTriggers,
		"TheConsoleDisablesAndEnablesGo":       theConsoleDisablesAndEnablesGo,
		"DisabledSurvivesARestartOfGo":         disabledSurvivesARestartOfGo,
		"TheConsoleShutsGoDown":                theConsoleShutsGoDown,
		"GoShutsJavaDown":                      goShutsJavaDown,
		"OperatorsAreHeardByJava":              operatorsAreHeardByJava,
		"TheConsoleDisablesItems":              theConsoleDisablesItems,
		"GoLeavesAloneWhatJavaRuns":            goLeavesAloneWhatJavaRuns,
		"JavaLeavesAloneWhatGoRuns":            javaLeavesAloneWhatGoRuns,
		"GoMakesUpWhatJavaMissed":              goMakesUpWhatJavaMissed,
		"JavaMakesUpWhatGoMissed":              javaMakesUpWhatGoMissed,
		"AReconnectOfGoIsNoCrashToJava":        aReconnectOfGoIsNoCrashToJava,
		"JavaReadsATreeThatGoHasUsedForAWhile": javaReadsAUsedTree,
		"TheConsoleChangesSettings":            theConsoleChangesSettings,
		"AProcessThatIsNotToldOfJava":          aProcessThatIsNotToldOfJava,
		"ConfigOfJavaIsReadByGo":               configOfJavaIsReadByGo,
		"ConfigOfGoIsReadByElasticJob3":        configOfGoIsReadByElasticJob3,
		"TheWrongOption":                       theWrongOption,
		"AJobOfOneShot":                        aJobOfOneShot,
		"WhatIsNotShared":                      whatIsNotShared,
		"OnceListenersWait":                    onceListenersWait,
		"ZonesAreTheSame":                      zonesAreTheSame,
		"ADataflowJob/once":                    aDataflowJob("dataflow_once", false),
		"ADataflowJob/streaming":               aDataflowJob("dataflow_streaming", true),
		"AScriptJob":                           aScriptJob,
		"AnHTTPJob":                            anHTTPJob,
		"AGoProcessIsFrozen":                   aGoProcessIsFrozen,
		"AGoProcessIsFrozenForLess":            aGoProcessIsFrozenForLessThanItsSession,
		"JavaRunsWhatAFrozenGoProcessHad":      javaRunsWhatAFrozenGoProcessHad("frozen_go_had", false),
		"JavaRunsWhatAFrozenGoProcessHas":      javaRunsWhatAFrozenGoProcessHad("frozen_go_has", true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, processes.in(t))
		})
	}
}

// What Go stored is what ElasticJob 3.x would have written, to the byte, whatever is in the texts.
func configOfGoIsReadByElasticJob3(t *testing.T, j java) {
	c := j.newCluster(t, "config_of_go")
	cfg := c.config(never, 3)
	cfg.ShardingItemParameters, cfg.JobParameter = "0=Berlin,1=Oslo,2=Köln", `x<y & 'z'="q": #1`
	cfg.Description = strings.Repeat("many words in a line: ", 12) + "\u4f5c\u4e1a"
	cfg.Failover, cfg.TimeZone, cfg.ErrorHandler, cfg.ShardingStrategy = true, "Etc/GMT-8", "IGNORE", "ODEVITY"
	cfg.Props = map[string]string{"a.setting": "true", "some.lines": "one\ntwo\n\nthree"}
	c.startGo(cfg)
	stored, err := c.registry.Get(t.Context(), c.tree.Config())
	require.NoError(t, err)

	belief, err := j.last.Join(c.java(), javapeer.NewJob(c.job, everySecond, 9))
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.last.Console(c.java()).Shutdown(c.job, "") })
	require.Equal(t, stored.Value, belief.Config, "what Java makes of it and would write")
	require.Equal(t, stored.Value, mustGet(t, c, c.tree.Config()), "Java left it as it was")
	require.Equal(t, javapeer.Class, mustGet(t, c, c.tree.Root()))
}

func mustGet(t *testing.T, c *cluster, path string) string {
	t.Helper()
	n, err := c.registry.Get(t.Context(), path)
	require.NoError(t, err)
	return n.Value
}

// A process that was told of instances of 2.1.5 does not take part beside those of 3.x.
func theWrongOption(t *testing.T, j java) {
	c := j.newCluster(t, "wrong_option")
	first := c.joinJava(j.first, javapeer.NewJob(c.job, never, 2))
	s, err := scheduler.New(c.open(c.address), scheduler.WithInstanceID(goID), scheduler.WithJavaPeers())
	require.NoError(t, err)
	_, err = s.Add(t.Context(), c.config(never, 2), job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	require.ErrorIs(t, err, scheduler.ErrJavaPeers)
	require.ErrorContains(t, err, first)
	require.ErrorContains(t, err, "WithElasticJob3Peers")
}

// What the last instance of ElasticJob 3.x was running when it was killed is run again by the first one of ours, however
// much later that comes, and nothing else is.
func TestWhatElasticJob3LeftIsRunAgain(t *testing.T) {
	t.Parallel()
	need(t)
	j := java{first: javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP(ipFirst)), layout: jobtree.ElasticJob3}
	c := j.newCluster(t, "left_by_java")
	spec := javapeer.NewJob(c.job, never, 2)
	spec.Failover = true
	first := c.joinJava(j.first, spec)
	console := j.first.Console(c.java())
	require.NoError(t, console.Trigger(c.job))
	j.first.WaitEvents(c.job, began(1, 0))
	c.eventually("it has ended", func(s *jobtree.State) bool { return !s.Item(0).Running.Exists() && !s.Item(1).Running.Exists() })
	require.NoError(t, console.DisableItem(c.job, 0))
	j.first.Last(c.job, javapeer.UntilTold)
	require.NoError(t, console.Trigger(c.job))
	j.first.WaitEvents(c.job, began(1, 1))
	j.first.Kill()
	c.eventually("nobody is there", func(s *jobtree.State) bool { return len(s.Instances) == 0 })
	require.Equal(t, first, c.state().Item(1).Remains.Value)

	cfg := c.config(never, 2)
	cfg.Failover = true
	g := c.startGo(cfg)
	g.wait("the rerun", func(runs []job.ShardingContext) bool { return countOf(runs, 1, job.Failover) > 0 })
	c.eventually("nothing is left", func(s *jobtree.State) bool {
		it := s.Item(1)
		return !it.Running.Exists() && !it.Remains.Exists() && it.FailoverItem == 0 && settled(2, goID)(s)
	})
	runs, _ := g.look()
	require.Len(t, runs, 1, "%s", shown(runs))
}

// What the last instance of ours was running when it was killed is run again by ElasticJob 3.x, which sees our mark.
func TestElasticJob3RunsAgainWhatWeLeft(t *testing.T) {
	t.Parallel()
	need(t)
	j := java{last: javapeer.Start(t, javapeer.WithRelease(javapeer.ElasticJob3), javapeer.WithIP(ipLast)), layout: jobtree.ElasticJob3}
	c := j.newCluster(t, "left_by_go")
	cfg := c.config(never, 2)
	cfg.Failover = true
	victim := c.startChild(cfg)
	c.goLeads()
	last := c.joinJava(j.last, javapeer.NewJob(c.job, never, 1))
	s := c.eventually("two instances", settled(2, goID, last))
	require.Equal(t, goID, s.Owner(1))
	require.NoError(t, j.last.Console(c.java()).Trigger(c.job))
	victim.await(t, "began 1")
	j.last.WaitEvents(c.job, began(0, 0))
	require.Equal(t, goID, c.state().Item(1).Running.Value)
	victim.kill()
	events := j.last.WaitEvents(c.job, began(1, 0))
	require.Equal(t, map[int]int{0: 1, 1: 1}, begins(events))
	c.eventually("Java leads, and nothing is left", func(s *jobtree.State) bool {
		it := s.Item(1)
		return s.Leader.Instance == last && !it.Running.Exists() && !it.Remains.Exists() && it.FailoverItem == 0
	})
}
