package etcd

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

const (
	// passedOverFor is for how long a silent member is passed over, unless it is found silent again: by then, one that
	// stands still has lost its connection.
	passedOverFor = pingAfter + pingAnswer
	// What a silent member is asked until it answers has so long, and the next question comes so much later.
	questionLimit = pingAfter
	questionPause = time.Second
)

// members is what a handle knows of the members of its cluster: which of them are silent, because they stand still or are
// parted from the others. These are passed over, as each try there would take all the time that it has.
//
// Whatever is asked may be asked of any member: this knowledge costs time if it is wrong, and nothing else. If all are
// silent, none is passed over. It is safe for concurrent use, and takes no lock where members answer.
type members struct {
	count     func() int    // how many there are
	patience  time.Duration // a member that takes no longer for an answer is not silent
	epoch     time.Time     // what moments are counted from
	byAddress sync.Map      // of *member
	key       []byte        // that is none, and may be read: what a member is asked for
	clusters  clusters

	mu     sync.Mutex
	ask    func(ctx context.Context, m *member) // asks one member something; nil: nobody can ask one of them
	life   context.Context                      // of the questions
	closed bool
	wg     sync.WaitGroup // of those who ask
}

// member is one of them. Its moments are those of members.now.
type member struct {
	address  string
	answered atomic.Int64 // the last answer that only a member gives that is in touch with the majority; 0 = none
	silent   atomic.Int64 // when it was last found silent; 0 = it has answered since
	asked    atomic.Bool  // somebody asks it until it answers
}

func newMembers(count func() int, config Config) *members {
	key, _ := newNamespace(config.Namespace).below(registry.Root)
	return &members{count: count, patience: config.RequestTimeout / 2, epoch: time.Now(), key: []byte(key)}
}

// now is the present moment. It is never 0.
func (k *members) now() int64 { return int64(time.Since(k.epoch)) + 1 }

// at returns the member at an address.
func (k *members) at(address string) *member {
	if m, ok := k.byAddress.Load(address); ok {
		return m.(*member)
	}
	m, _ := k.byAddress.LoadOrStore(address, &member{address: address})
	return m.(*member)
}

// isSilent tells whether a member is silent: it should not be asked while another one is there.
func (k *members) isSilent(m *member) bool {
	since := m.silent.Load()
	return since != 0 && k.now()-since < int64(passedOverFor)
}

// anyAnswers tells whether there is a member that is not silent as far as is known.
func (k *members) anyAnswers() (some bool) {
	k.byAddress.Range(func(_, m any) bool {
		some = !k.isSilent(m.(*member))
		return !some
	})
	return some
}

// heard takes in that a member has answered.
func (k *members) heard(m *member) {
	m.answered.Store(k.now())
	if m.silent.Load() != 0 {
		m.silent.Store(0)
	}
}

// unanswered takes in that a member has not answered what it was sent at a moment. If it has answered something else since,
// it is not silent. Of one that is, somebody goes on to ask, so that it is taken back as soon as it answers and no call has
// to try.
func (k *members) unanswered(m *member, sent int64) {
	if k.count() <= 1 || m.answered.Load() >= sent {
		return
	}
	m.silent.Store(k.now())
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask != nil && !k.closed && m.asked.CompareAndSwap(false, true) {
		k.wg.Go(func() { k.askUntilHeard(m) })
	}
}

// askUntilHeard asks a silent member until it answers at once, or nothing comes of that for so long that it is not passed
// over any more.
//
// It asks nobody before some member has answered something: else there may be no leader. A read that comes to a member then
// goes, again and again, to the leader that was. If that one stood still and goes on, it hands all of them to its successor,
// and the answers come back to the member that asked, where nobody waits for them any more. etcd has that member do nothing
// for a second because of them, and if it is the leader, the whole cluster.
func (k *members) askUntilHeard(m *member) {
	defer m.asked.Store(false)
	began := k.now()
	for k.isSilent(m) && remote.Sleep(k.life, questionPause) {
		if k.isSilent(m) && k.answeredSince(began) {
			ctx, cancel := context.WithTimeout(k.life, questionLimit)
			k.ask(ctx, m)
			cancel()
		}
	}
}

// answeredSince tells whether some member has answered since a moment.
func (k *members) answeredSince(moment int64) (some bool) {
	k.byAddress.Range(func(_, m any) bool {
		some = m.(*member).answered.Load() >= moment
		return !some
	})
	return some
}

// begin says how one member is asked, until close or life ends.
func (k *members) begin(life context.Context, ask func(ctx context.Context, m *member)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.life, k.ask = life, ask
}

// opens tells whether the handle is still being opened.
func (k *members) opens() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.life == nil
}

// close waits for those who ask. The life of their questions has ended.
func (k *members) close() {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.wg.Wait()
}
