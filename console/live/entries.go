package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

func (f *fold) failover(item int, is, last span, hasLast bool) {
	e := Entry{At: moment(is.begin), Kind: EntryFailover, Item: &item, To: is.instance.Value()}
	e.Text = fmt.Sprintf("item %d runs again on %s", item, e.To)
	if hasLast {
		e.From = last.instance.Value()
		e.Text = fmt.Sprintf("item %d runs again on %s, after it was lost on %s", item, e.To, e.From)
	}
	f.note(e)
}

func (f *fold) misfire(item int, c registry.Change) {
	if !c.New.Exists() || f.first {
		return
	}
	missed, err := jobtree.DecodeMisfire(c.New)
	if err != nil {
		return
	}
	known, _ := jobtree.DecodeMisfire(c.Old)
	fires := 0
	for _, fire := range missed.Fires {
		if !c.Old.Exists() || !slices.ContainsFunc(known.Fires, fire.Equal) {
			fires++
		}
	}
	if fires == 0 && (len(missed.Fires) > 0 || c.Old.Exists()) {
		return
	}
	e := Entry{At: f.now, Kind: EntryMisfire, Item: &item, Fires: fires}
	switch fires {
	case 0:
		e.Text = fmt.Sprintf("item %d missed fires", item)
	case 1:
		e.Text = fmt.Sprintf("item %d missed the fire of %s", item, missed.Fires[len(missed.Fires)-1].Format(time.RFC3339))
	default:
		e.Text = fmt.Sprintf("item %d missed %d fires", item, fires)
	}
	f.note(e)
}

func (f *fold) operated(c registry.Change) {
	if !c.New.Exists() {
		return
	}
	after, err := jobtree.DecodeOperated(c.New)
	if err != nil {
		return
	}
	before := jobtree.Operated{}
	if c.Old.Exists() {
		before, _ = jobtree.DecodeOperated(c.Old)
	}
	for _, op := range after.Operations {
		if _, known := before.Find(op.ID); known || op.When.Before(f.now.Add(-keptFor)) {
			continue
		}
		text := deed(op.Verb, op.Target)
		if op.Reason != "" {
			text += ": " + op.Reason
		}
		f.note(Entry{At: op.When, Kind: EntryOperation, By: op.Who, Text: text})
	}
}

// deed names what an operator did: "disable item" and "item 3" are one item.
func deed(verb, target string) string {
	if last := verb[strings.LastIndexByte(verb, ' ')+1:]; strings.HasPrefix(target, last+" ") {
		verb = strings.TrimSuffix(verb, last)
	}
	return strings.TrimSpace(strings.TrimSpace(verb) + " " + target)
}

// compare notes what else is other in a job: who takes part, who leads, who owns what.
func (f *fold) compare(before, after *jobtree.State) {
	for _, in := range after.Instances {
		if before.Instance(in.ID).Created == 0 {
			f.note(Entry{At: f.now, Kind: EntryJoined, To: in.ID, Text: in.ID + " joined"})
		}
	}
	for _, in := range before.Instances {
		if after.Instance(in.ID).Created == 0 {
			f.note(Entry{At: f.now, Kind: EntryLeft, From: in.ID, Text: in.ID + " is gone"})
		}
	}
	if from, to := before.Leader.Instance, after.Leader.Instance; to != "" && from != to {
		f.note(Entry{At: f.now, Kind: EntryLeader, From: from, To: to, Text: to + " leads"})
	}
	f.moved(before, after)
}

// moved notes the items that changed hands, those of the same hands together.
func (f *fold) moved(before, after *jobtree.State) {
	type hands struct{ from, to string }
	items := make(map[hands][]int)
	var order []hands
	for item := range after.Total() {
		h := hands{before.Owner(item), after.Owner(item)}
		if h.from == h.to || h.to == "" {
			continue
		}
		if items[h] == nil {
			order = append(order, h)
		}
		items[h] = append(items[h], item)
	}
	for _, h := range order {
		e := Entry{At: f.now, Kind: EntryMoved, From: h.from, To: h.to, Text: movedText(items[h]) + " to " + h.to}
		if len(items[h]) == 1 {
			e.Item = &items[h][0]
		}
		f.note(e)
	}
}

func movedText(items []int) string {
	if len(items) == 1 {
		return fmt.Sprintf("item %d moved", items[0])
	}
	var texts []string
	for _, item := range items[:min(len(items), 10)] {
		texts = append(texts, fmt.Sprint(item))
	}
	text := "items " + strings.Join(texts, ", ")
	if more := len(items) - len(texts); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " moved"
}

func (f *fold) note(e Entry) { f.line.note(e, f.number) }
