package mixed

import (
	"testing"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// java are the Java processes that the tests share, by address.
type java struct {
	first, last *javapeer.Peer // 10.0.0.1 and 10.0.0.3
	layout      jobtree.Layout // of their nodes
}

// in returns the processes for a subtest.
func (j java) in(t *testing.T) java { return java{j.first.In(t), j.last.In(t), j.layout} }

// The addresses of a cluster. Java orders instances by their ids, descending, so Go stands in between.
const (
	ipFirst = "10.0.0.1"
	ipGo    = "10.0.0.2"
	ipLast  = "10.0.0.3"
)

func TestMixed(t *testing.T) {
	t.Parallel()
	need(t)
	javapeer.Need(t)
	processes := java{
		first: javapeer.Start(t, javapeer.WithIP(ipFirst)),
		last:  javapeer.Start(t, javapeer.WithIP(ipLast)),
	}
	for name, test := range map[string]func(*testing.T, java){
		"ConfigOfGoIsReadByJava":               configOfGoIsReadByJava,
		"ConfigOfJavaIsReadByGo":               configOfJavaIsReadByGo,
		"OneAssignmentWhoeverLeads/average":    oneAssignmentWhoeverLeads("average_orders", ""),
		"OneAssignmentWhoeverLeads/odevity":    oneAssignmentWhoeverLeads("odevity_orders", strategyPackage+"OdevitySortByNameJobShardingStrategy"),
		"OneAssignmentWhoeverLeads/rotate":     oneAssignmentWhoeverLeads("rotate_orders", strategyPackage+"RotateServerByNameJobShardingStrategy"),
		"JavaDoesNotWaitForGo":                 javaDoesNotWaitForGo,
		"JavaWaitsInTheLatchForGo":             javaWaitsInTheLatchForGo,
		"GoWaitsInTheLatchForJava":             goWaitsInTheLatchForJava,
		"TheGoLeaderIsKilled":                  theGoLeaderIsKilled,
		"AGoInstanceIsKilledUnderAJavaLeader":  aGoInstanceIsKilledUnderAJavaLeader,
		"AProcessThatIsNotToldOfJava":          aProcessThatIsNotToldOfJava,
		"TheConsoleTriggers":                   theConsoleTriggers,
		"GoTriggers":                           goTriggers,
		"TheConsoleDisablesAndEnablesGo":       theConsoleDisablesAndEnablesGo,
		"DisabledSurvivesARestartOfGo":         disabledSurvivesARestartOfGo,
		"TheConsoleShutsGoDown":                theConsoleShutsGoDown,
		"GoShutsJavaDown":                      goShutsJavaDown,
		"OperatorsAreHeardByJava":              operatorsAreHeardByJava,
		"TheConsoleChangesSettings":            theConsoleChangesSettings,
		"TheConsoleDisablesItems":              theConsoleDisablesItems,
		"GoLeavesAloneWhatJavaRuns":            goLeavesAloneWhatJavaRuns,
		"JavaLeavesAloneWhatGoRuns":            javaLeavesAloneWhatGoRuns,
		"GoMakesUpWhatJavaMissed":              goMakesUpWhatJavaMissed,
		"JavaMakesUpWhatGoMissed":              javaMakesUpWhatGoMissed,
		"AReconnectOfGoIsNoCrashToJava":        aReconnectOfGoIsNoCrashToJava,
		"JavaReadsATreeThatGoHasUsedForAWhile": javaReadsAUsedTree,
		"JavaRunsWhatAFrozenGoProcessHad":      javaRunsWhatAFrozenGoProcessHad("frozen_go_had", false),
		"JavaRunsWhatAFrozenGoProcessHas":      javaRunsWhatAFrozenGoProcessHad("frozen_go_has", true),
		"GoStopsAtAnAddressOfJavas":            goStopsAtAnAddressOfJavas,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, processes.in(t))
		})
	}
}

const strategyPackage = "com.dangdang.ddframe.job.lite.api.strategy.impl."
