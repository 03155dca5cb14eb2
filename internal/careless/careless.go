// Package careless is what a careless hand does to the tree of a job: every kind of node that package
// jobtree names, deleted, altered, replaced by one without an owner, or held by a session that has
// nothing to do with it. It is for tests: the scheduler's walk through all deeds, and the simulation, which
// draws them as faults:
//
//	deeds := careless.Deeds("orders", owner, 2) // of item 2 and an instance that lives
//	err := deeds[r.IntN(len(deeds))].Do(ctx, operator)
//
// A cluster heals from any single deed by itself, within a reconcile interval at most, except from those
// that say what an operator wants ([Deed.Intent]): from these it recovers when they are undone.
// What a deed in a session leaves stays for as long as that session.
package careless

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Act is what is done to a node.
type Act uint8

// The acts.
const (
	Delete  Act = iota + 1 // the node is deleted
	Alter                  // it gets another value and keeps its owner; if it is not there, nothing happens
	Replace                // it is written anew, and belongs to nobody
	Borrow                 // it is written anew in the session of the hand
)

// Acts are all of them.
var Acts = [...]Act{Delete, Alter, Replace, Borrow}

// String returns "delete", "alter", "replace" or "borrow".
func (a Act) String() string { return [...]string{"", "delete", "alter", "replace", "borrow"}[a] }

// Deed is one act on one node.
type Deed struct {
	Act   Act
	Kind  jobtree.Kind
	Path  string
	Value string // that is written
}

// String names the deed.
func (d Deed) String() string {
	if d.Act == Delete {
		return fmt.Sprintf("%s %s", d.Act, d.Path)
	}
	return fmt.Sprintf("%s %s %q", d.Act, d.Path, d.Value)
}

// garbage is what no node holds.
const garbage = `}{ garbage`

// values are what a careless hand writes besides garbage: texts that are well-formed and untrue.
var values = map[jobtree.Kind][]string{
	jobtree.KindServer:       {"", "enabled"},
	jobtree.KindItemInstance: {"", "10.9.9.9@-@nobody"},
	jobtree.KindItemRunning:  {"", "10.9.9.9@-@nobody"},
	jobtree.KindLeader:       {"", "10.9.9.9@-@nobody"},
	jobtree.KindEpoch:        {`{"term":1,"counter":1,"total":1}`, `{"term":1,"counter":1,"total":100000000}`},
	jobtree.KindItemNext:     {`{"term":1,"counter":1,"owner":"10.9.9.9@-@nobody"}`},
	jobtree.KindTokens:       {`{"base":0}`},
	jobtree.KindTriggered:    {"TRIGGER", `{"until":"1999-01-01T00:00:00Z"}`},
	jobtree.KindItemRecord: {
		"", `{"state":"idle"}`,
		`{"state":"running","before":{"state":"idle"},"current":{"instance":"10.9.9.9@-@nobody","session":"1f","source":"scheduled","fire":"2000-01-01T00:00:05Z"}}`,
	},
	jobtree.KindItemMisfire: {"", `{"oldest":"1999-01-01T00:00:00Z","newest":"1999-06-01T00:00:00Z","count":9}`},
	jobtree.KindStarted:     {""},
	jobtree.KindCompleted:   {""},
}

// Deeds returns all deeds to the nodes of a job, of one of its items and of an instance, whose id may also
// be one that does not live.
func Deeds(job, instance string, item int) []Deed {
	var deeds []Deed
	for _, kind := range jobtree.Kinds() {
		if kind == jobtree.KindMove { // which no process reads, and which has operators ask for consent
			continue
		}
		name := jobtree.Name{Job: job, Kind: kind, Item: item, Key: instance}
		switch kind {
		case jobtree.KindServer:
			name.Key = jobtree.ServerOf(instance)
		case jobtree.KindElectionLatch, jobtree.KindFailoverLatch:
			name.Key = "0"
		}
		for _, act := range Acts {
			for _, value := range append([]string{garbage}, values[kind]...) {
				deeds = append(deeds, Deed{Act: act, Kind: kind, Path: name.Path(), Value: value})
				if act == Delete {
					break
				}
			}
		}
	}
	return deeds
}

// Intent tells whether the deed says something that an operator may want, so that nobody but an operator
// takes it back: it takes the configuration away, or excludes an item.
func (d Deed) Intent() bool {
	return d.Kind == jobtree.KindConfig || d.Kind == jobtree.KindItemDisabled && d.Act != Delete
}

// Undo puts the node back as it was found before the deed, which is the zero Node if it was not there.
func (d Deed) Undo(ctx context.Context, hand registry.Registry, found registry.Node) error {
	write := registry.Put(d.Path, found.Value)
	if !found.Exists() {
		write = registry.Delete(d.Path)
	}
	_, err := hand.Commit(ctx, registry.Txn{Then: []registry.Write{write}, Repeat: registry.RepeatHarmless})
	return err
}

// Do does the deed. In between two steps of it others may have put right what the first one did; then the
// second is not done.
func (d Deed) Do(ctx context.Context, hand registry.Registry) error {
	var err error
	switch d.Act {
	case Delete:
		err = d.delete(ctx, hand)
	case Alter:
		_, err = hand.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Update(d.Path, d.Value)}, Repeat: registry.RepeatHarmless})
	case Replace:
		if err = d.delete(ctx, hand); err == nil {
			_, err = hand.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put(d.Path, d.Value)}, Repeat: registry.RepeatHarmless})
		}
	case Borrow:
		err = d.borrow(ctx, hand)
	}
	if errors.Is(err, registry.ErrConflict) || errors.Is(err, registry.ErrOwned) {
		return nil
	}
	return err
}

func (d Deed) delete(ctx context.Context, hand registry.Registry) error {
	_, err := hand.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Delete(d.Path)}, Repeat: registry.RepeatHarmless})
	return err
}

func (d Deed) borrow(ctx context.Context, hand registry.Registry) error {
	session, err := hand.Session(ctx)
	if err != nil {
		return err
	}
	if err := d.delete(ctx, hand); err != nil {
		return err
	}
	_, err = hand.Commit(ctx, registry.Txn{Then: []registry.Write{registry.PutOwned(d.Path, d.Value, session)}, Repeat: registry.RepeatOwned})
	return err
}
