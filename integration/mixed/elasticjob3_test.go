package mixed

import (
	"testing"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/internal/jobtree"
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, processes.in(t))
		})
	}
}
