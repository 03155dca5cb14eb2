package operate

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// The words by which lists can be filtered, those of each kind of thing: its statuses, and the reasons that it may have.
var (
	wordsOfJobs = wordsOf([]Status{OK, Crashed, Disabled, ShardingFlag}, Overdue, Waiting, Paused, NoLeader, GaveUp, Unreadable, Removing, Moving,
		NoInstance, DisabledJob, DisabledServers, Unassigned, OwnerGone)
	wordsOfItems = wordsOf([]Status{Pending, Running, Disabled, ShardingFlag}, Overdue, Waiting, GaveUp, Unreadable, Surplus,
		DisabledItem, Unassigned, OwnerGone)
	wordsOfInstances = wordsOf([]Status{OK, Disabled}, DisabledServers, Leaving)
	wordsOfServers   = wordsOf([]Status{OK, Crashed, Disabled}, DisabledServers, NoInstance)
)

func wordsOf(statuses []Status, reasons ...ReasonWord) (all []string) {
	for _, s := range statuses {
		all = append(all, string(s))
	}
	for _, r := range reasons {
		all = append(all, string(r))
	}
	return all
}

// WordsOfJobs returns the words of statuses and reasons that a [JobRow] may have.
func WordsOfJobs() []string { return slices.Clone(wordsOfJobs) }

// WordsOfItems returns the words of statuses and reasons that an [ItemRow] may have.
func WordsOfItems() []string { return slices.Clone(wordsOfItems) }

// WordsOfInstances returns the words of statuses and reasons that an [InstanceRow] may have.
func WordsOfInstances() []string { return slices.Clone(wordsOfInstances) }

// WordsOfServers returns the words of statuses and reasons that a [ServerRow] may have.
func WordsOfServers() []string { return slices.Clone(wordsOfServers) }

// Outcomes returns the outcomes that an [ExecutionRow] may have.
func Outcomes() []string {
	return []string{OutcomeRunning, string(jobtree.Success), string(jobtree.Failure), string(jobtree.Interrupted), string(jobtree.Lost)}
}

// Verbs returns the verbs of operations that are written down.
func Verbs() []Verb {
	return []Verb{
		VerbTrigger, VerbBackfill, VerbDisableJob, VerbEnableJob, VerbDisableItem, VerbEnableItem, VerbDisableServer, VerbEnableServer,
		VerbShutDown, VerbSettings, VerbRollBack, VerbCreate, VerbRemove, VerbGiveUp, VerbTidy, VerbReshard, VerbFiles, VerbNoFiles,
		VerbDeclare, VerbUpdate, VerbSeed, VerbMigrate, jobtree.VerbMove,
	}
}
