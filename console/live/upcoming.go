package live

import (
	"time"

	"github.com/elasticron/elasticron/operate"
)

// What comes next is shown for five minutes, in parts.
const (
	upcomingParts = 30
	upcomingPart  = 10 * time.Second
)

// upcoming counts the fires of a job in the next minutes.
type upcoming struct {
	revision int64
	fires    [upcomingParts]uint16
	from     int64 // the number of the first part; 0 = nothing is counted yet
	enabled  bool
}

// show counts from the part on that begins at a time, and only what was not counted before.
func (u *upcoming) show(n *operate.Namespace, row *Row, first time.Time) {
	part := func(t time.Time) int64 { return t.UnixMilli() / upcomingPart.Milliseconds() }
	from, enabled := part(first), !row.Next.IsZero()
	known := int64(0)
	if u.from != 0 && u.revision == int64(row.Revision) && u.enabled == enabled && from >= u.from {
		known = max(0, u.from+upcomingParts-from)
	}
	if known == upcomingParts {
		return
	}
	if known > 0 {
		copy(u.fires[:], u.fires[upcomingParts-known:])
	}
	clear(u.fires[known:])
	u.revision, u.from, u.enabled = int64(row.Revision), from, enabled
	if !enabled {
		return
	}
	after := first.Add(time.Duration(known) * upcomingPart)
	for fire := range n.Fires(row.Job, after.Add(-1), first.Add(upcomingParts*upcomingPart-1)) {
		if i := part(fire) - from; i >= 0 && i < upcomingParts && u.fires[i] < 1<<16-1 {
			u.fires[i]++
		}
	}
}
