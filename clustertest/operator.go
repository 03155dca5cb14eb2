package clustertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// Trigger runs every item of a job once, now, on the instance that owns it, as [scheduler.Job.Trigger] does. What
// has yet to begin for a request before that does so for this one. It
// fails the test if no instance takes part in the job.
func (c *Cluster) Trigger(name string) {
	c.tb.Helper()
	c.known(name, "Trigger")
	state := c.state(name)
	if len(state.Instances) == 0 {
		c.fatalf("Trigger %q: no instance takes part in it", name)
	}
	text, err := jobtree.EncodeTriggered(jobtree.Triggered{Until: time.Now().Add(scheduler.DefaultTriggerWithin)})
	if err != nil {
		c.fatalf("Trigger %q: %v", name, err)
	}
	c.commit(fmt.Sprintf("%q is triggered", name), registry.Txn{Then: []registry.Write{registry.Put(state.Tree().Triggered(), text)}})
}

// DisableItem takes one item out of a job, as an operator does. An execution that is under way goes on. As long as the
// item is disabled, it has no fires, so none is missed.
func (c *Cluster) DisableItem(name string, item int) {
	c.tb.Helper()
	c.known(name, "DisableItem")
	if total := c.state(name).Config.Value.ShardingTotalCount; item < 0 || item >= total {
		c.fatalf("DisableItem: %q has no item %d: its stored settings have %d, which count from 0", name, item, total)
	}
	c.commit(fmt.Sprintf("item %d of %q is disabled", item, name), registry.Txn{
		Then: []registry.Write{registry.Put(jobtree.For(name).ItemDisabled(item), "")},
	})
}

// EnableItem ends [Cluster.DisableItem], also of an item that the job has lost since. An item that is enabled stays so.
func (c *Cluster) EnableItem(name string, item int) {
	c.tb.Helper()
	c.known(name, "EnableItem")
	c.commit(fmt.Sprintf("item %d of %q is enabled", item, name), registry.Txn{
		Then: []registry.Write{registry.Delete(jobtree.For(name).ItemDisabled(item))},
	})
}

// Disable takes the instance's server out of a job, as an operator does: its items move to the other instances. As
// long as all servers are disabled, the job has no fires.
func (i *Instance) Disable(name string) { i.serve(name, "Disable", "disabled", true) }

// Enable ends [Instance.Disable].
func (i *Instance) Enable(name string) { i.serve(name, "Enable", "enabled", false) }

func (i *Instance) serve(name, method, what string, disabled bool) {
	i.c.tb.Helper()
	i.c.known(name, method)
	i.c.commit(fmt.Sprintf("%s is %s for %q", i.name, what, name), registry.Txn{
		Then: []registry.Write{registry.Put(jobtree.For(name).Server(i.ip), jobtree.EncodeServer(disabled))},
	})
}

// Update changes the stored settings of a job, as an operator does; every instance follows. It fails the test if an operator
// could not: the settings are not allowed after change, the job never fires, or has another name or class.
func (c *Cluster) Update(name string, change func(cfg *job.Config)) {
	c.tb.Helper()
	if change == nil {
		c.alive("Update")
		c.fatalf("Update %q: the function is nil", name)
	}
	c.known(name, "Update")
	stored := c.state(name).Config
	if stored.Revision == 0 || stored.Err != nil {
		c.fatalf("Update %q: its stored settings are missing or cannot be read: %v", name, stored.Err)
	}
	cfg := stored.Value
	cfg.Props = maps.Clone(cfg.Props) // change may write to it
	change(&cfg)
	_, faulty := jobtree.CheckNewConfig(name, cfg)
	_, never := jobtree.CheckFires(&stored.Value, cfg, time.Now())
	if err := errors.Join(faulty, never); err != nil {
		c.fatalf("Update %q: %v", name, err)
	}
	if reason := jobtree.ClassStays(stored.Value, cfg); reason != "" {
		c.fatalf("Update %q: its class %s", name, reason)
	}
	text, err := jobtree.EncodeConfig(cfg)
	if err != nil {
		c.fatalf("Update %q: %v", name, err)
	}
	c.commit(fmt.Sprintf("the settings of %q are changed", name), registry.Txn{
		Then: []registry.Write{registry.Put(jobtree.For(name).Config(), text)},
	})
}

// Owner returns the instance to which an item of a job is assigned now; this instance runs the item's next fire. It
// fails the test if no running instance owns the item: after a crash, this is so until the session of the dead
// instance has ended.
func (c *Cluster) Owner(name string, item int) *Instance {
	c.tb.Helper()
	c.known(name, "Owner")
	state := c.state(name)
	return c.whose(state.Owner(item), fmt.Sprintf("item %d of %q", item, name))
}

// Leader returns the instance that leads a job now. It fails the test if no running instance does.
func (c *Cluster) Leader(name string) *Instance {
	c.tb.Helper()
	c.known(name, "Leader")
	return c.whose(c.state(name).Leader.Instance, fmt.Sprintf("the leadership of %q", name))
}

// whose returns the running instance of an id.
func (c *Cluster) whose(id, what string) *Instance {
	c.tb.Helper()
	for _, i := range c.all() {
		if i.ID() == id && i.Running() {
			return i
		}
	}
	switch id {
	case "":
		c.fatalf("%s belongs to nobody\n\n%s", what, c.history())
	default:
		c.fatalf("%s belongs to %s, which does not run\n\n%s", what, id, c.history())
	}
	return nil
}

// history tells what was done to the cluster.
func (c *Cluster) history() string {
	text := "what happened so far:"
	for _, d := range c.book.done() {
		text += fmt.Sprintf("\n%s  %s", clockTime(d.at), d.text)
	}
	return text
}

// state returns what the registry says of a job now.
func (c *Cluster) state(name string) *jobtree.State {
	return jobtree.StateOf(name, c.view.Snapshot())
}

// known settles, and fails the test if the registry has no such job.
func (c *Cluster) known(name, method string) {
	c.tb.Helper()
	c.settle(method)
	if !c.book.knows(name) {
		c.fatalf("%s: there is no job %q in the registry, which has %q; a job is there once an instance has started", method, name, c.book.jobs())
	}
}

// commit does as an operator does, and returns when the cluster has taken notice.
func (c *Cluster) commit(deed string, txn registry.Txn) {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.book.note(deed)
	if _, err := c.operator.Commit(ctx, txn); err != nil {
		c.fatalf("%s: %v", deed, err)
	}
	c.settle("an operator's deed")
}
