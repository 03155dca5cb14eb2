package operate

import (
	"encoding/json"
	"maps"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Settings returns the members of a job's configuration that are no defaults, by the names under which they are
// stored, and hidden where they may be secret; nothing of a configuration that cannot be read, and of a job that there
// is not.
func (n *Namespace) Settings(name string) map[string]any { return n.settings(name, true) }

// SettingsWithSecrets is [Namespace.Settings] for who may see everything.
func (n *Namespace) SettingsWithSecrets(name string) map[string]any { return n.settings(name, false) }

func (n *Namespace) settings(name string, masked bool) map[string]any {
	l := n.find(name)
	if l == nil || !l.st.Config.Exists() || l.st.Config.Err != nil {
		return nil
	}
	c := l.st.Config.Value
	usual := job.Config{Name: c.Name, Class: c.Class, Cron: c.Cron, ShardingTotalCount: c.ShardingTotalCount, Type: c.Type}
	if c.Type == job.TypeScript {
		usual.ScriptCommandLine = "usual"
	}
	all, standard := membersOf(c, masked), membersOf(usual, false)
	kept := map[string]bool{"jobName": true, "jobClass": true, "jobType": true, "cron": true, "shardingTotalCount": true}
	maps.DeleteFunc(all, func(name string, value any) bool {
		was, known := standard[name]
		return known && !kept[name] && equalJSON(was, value)
	})
	return all
}

func membersOf(c job.Config, masked bool) map[string]any {
	text, err := jobtree.EncodeConfig(c)
	if err != nil {
		return nil
	}
	if masked {
		text = jobtree.Mask(jobtree.For(c.Name).Config(), text)
	}
	var members map[string]any
	if json.Unmarshal([]byte(text), &members) != nil {
		return nil
	}
	return members
}

func equalJSON(a, b any) bool {
	one, err := json.Marshal(a)
	two, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(one) == string(two)
}
