package simulation_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry/memory"
)

// holdup is a kind of messages that are slow by chance, and what happens while one is under way.
type holdup struct {
	of      step
	answers bool          // it is the answers to such transactions, and not the requests
	percent int           // of such messages
	scale   time.Duration // the tail begins there
	most    time.Duration // and ends here
	meet    int           // of a hundred that are slow, so many meet one of the deeds on their way
	deeds   []deed
}

func (h holdup) String() string {
	what := "requests to"
	if h.answers {
		what = "answers to"
	}
	return fmt.Sprintf("%d%% of the %s %s take %s or more, up to %s, and %d%% of those meet one of %v", h.percent, what, h.of, h.scale, h.most, h.meet, h.deeds)
}

// takes draws how long a message that is slow takes. The tail is heavy: most take little longer than
// scale, one in ten takes ten times as long.
func (h holdup) takes(r *rand.Rand) time.Duration {
	return min(h.most, time.Duration(float64(h.scale)/(1-r.Float64())*math.Sqrt(r.Float64())))
}

// holding decides which messages are held up. The same message of the same process, by what it is about
// and how many such there were before, always meets the same fate.
type holding struct {
	d  *driver
	mu sync.Mutex
	// sent counts the messages by process, kind and what they are about.
	sent map[string]uint64
	// slow and met count those that were held up, and that met something. Both are bounded, as what a
	// message meets may bring about the next one.
	slow, met int
}

const (
	mostSlow = 300
	mostMet  = 40
)

// enough counts one more of something, and tells whether there were enough before.
func (h *holding) enough(of *int, most int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	*of++
	return *of > most
}

// of returns the delays of a process.
func (h *holding) of(id string) func(memory.Message) time.Duration {
	return func(m memory.Message) time.Duration {
		return h.d.storeDelay(m) + h.delay(id, m)
	}
}

func (h *holding) delay(id string, m memory.Message) time.Duration {
	now := time.Since(bubbleStart)
	if now > h.d.plan.faults || len(h.d.plan.holdups) == 0 {
		return 0
	}
	kind := stepOfMessage(m)
	for _, up := range h.d.plan.holdups {
		if up.of != kind || up.answers != (m.Kind == memory.Answer) {
			continue
		}
		r := h.chance(id, m)
		if r.IntN(100) >= up.percent || h.enough(&h.slow, mostSlow) {
			continue
		}
		takes := up.takes(r)
		if !isDesk(id) {
			h.d.rec.incident(checker.Held, id, takes, 0)
		}
		if len(up.deeds) > 0 && r.IntN(100) < up.meet && !h.enough(&h.met, mostMet) {
			h.meet(r, id, m, up, takes)
		}
		return takes
	}
	return 0
}

// meet has something happen while a message is under way, or right before it arrives. It happens to what
// the message is about, to its sender or its item, more often than to anything else.
func (h *holding) meet(r *rand.Rand, id string, m memory.Message, up holdup, takes time.Duration) {
	a := h.d.plan.action(r, time.Since(bubbleStart), up.deeds[r.IntN(len(up.deeds))])
	if slot := h.d.slotOf(id); r.IntN(2) == 0 && slot >= 0 {
		a.slot = slot
	}
	if item, is := itemOf(r, m); is && (a.do == toggleItem || a.do == meddle) && r.IntN(4) > 0 {
		a.n = item
	}
	if path := aboutOf(r, m); path != "" && up.of == desked && r.IntN(2) == 0 {
		a.do, a.path = contradict, path
	}
	after := time.Duration(r.Float64() * float64(takes))
	if r.IntN(3) == 0 {
		after = max(after, takes-time.Duration(r.IntN(40_000_000)))
	}
	time.AfterFunc(after, func() { h.d.act(a) })
}

// itemOf returns one of the items that a message is about.
func itemOf(r *rand.Rand, m memory.Message) (int, bool) {
	if len(m.Txns) == 0 {
		return 0, false
	}
	for _, w := range m.Txns[r.IntN(len(m.Txns))].Then {
		if name, ok := jobtree.Parse(w.Path); ok && name.Kind == jobtree.KindItemRecord {
			return name.Item, true
		}
	}
	return 0, false
}

// aboutOf returns one of the nodes that an operation writes, besides what is written down of it.
func aboutOf(r *rand.Rand, m memory.Message) string {
	if len(m.Txns) == 0 {
		return ""
	}
	var about []string
	for _, w := range m.Txns[0].Then {
		if name, ok := jobtree.Parse(w.Path); ok && name.Kind != jobtree.KindOperated {
			about = append(about, w.Path)
		}
	}
	if len(about) == 0 {
		return ""
	}
	return about[r.IntN(len(about))]
}

// chance returns the numbers that decide a message's fate.
func (h *holding) chance(id string, m memory.Message) *rand.Rand {
	key := fmt.Sprint(id, m.Kind, m.About)
	h.mu.Lock()
	h.sent[key]++
	n := h.sent[key]
	h.mu.Unlock()
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(key))
	_ = binary.Write(hash, binary.LittleEndian, []uint64{n, h.d.plan.seed})
	return rand.New(rand.NewPCG(hash.Sum64(), 3))
}

func stepOfMessage(m memory.Message) step {
	switch {
	case m.Kind == memory.Event:
		return event
	case len(m.Txns) > 0:
		return stepOf(m.Txns[0])
	default:
		return other
	}
}
