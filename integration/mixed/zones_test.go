package mixed

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/job"
)

// In a zone that is some hours and some minutes off GMT, both sides fire at the same times, whoever declared it.
func zonesAreTheSame(t *testing.T, j java) {
	for _, zone := range []struct {
		java, name string
		offset     time.Duration
		first      bool // Java declares it
	}{
		{"GMT+05:30", "Asia/Kolkata", 5*time.Hour + 30*time.Minute, false},
		{"GMT+5:45", "Asia/Kathmandu", 5*time.Hour + 45*time.Minute, true},
		{"GMT-09:30", "Pacific/Marquesas", -9*time.Hour - 30*time.Minute, true},
	} {
		t.Run(zone.java, func(t *testing.T) {
			c := j.in(t).newCluster(t, "zone"+strings.NewReplacer("+", "_east_", "-", "_west_", ":", "_").Replace(zone.java))
			cron := everySecondOfThese(time.Now().UTC().Add(zone.offset), 10*time.Minute)
			spec := javapeer.NewJob(c.job, cron, 2)
			spec.TimeZone = zone.java
			cfg := c.config(cron, 2)
			cfg.TimeZone = zone.name
			var last string
			if zone.first {
				last = c.joinJava(j.last, spec)
			}
			g := c.startGo(cfg)
			if !zone.first {
				c.goLeads()
				last = c.joinJava(j.last, spec)
			}
			s := c.eventually("two instances", settled(2, goID, last))
			require.Equal(t, zone.name, s.Config.Value.TimeZone)
			item := slices.Index(ownersOf(s), goID)
			runs, _ := g.look()
			seen := len(runs)
			g.wait("a fire of its own item", func(runs []job.ShardingContext) bool { // what it missed meanwhile comes first
				return slices.ContainsFunc(runs[seen:], func(sc job.ShardingContext) bool {
					return sc.Item == item && sc.Source == job.Scheduled
				})
			})
			j.last.WaitEvents(c.job, began(1-item, begins(j.last.Events(c.job))[1-item]+1))
		})
	}
}

// everySecondOfThese is a cron for every second of the hours and minutes of a while. At another offset of half an hour or
// a quarter, it does not fire in that while.
func everySecondOfThese(from time.Time, while time.Duration) string {
	hours, minutes := make(map[string]bool), make(map[string]bool)
	for at := from; at.Before(from.Add(while)); at = at.Add(time.Minute) {
		hours[strconv.Itoa(at.Hour())], minutes[strconv.Itoa(at.Minute())] = true, true
	}
	list := func(of map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(of)), ",") }
	return fmt.Sprintf("* %s %s * * ?", list(minutes), list(hours))
}
