package access

import (
	"net/netip"
	"sync"
	"time"
)

// backoff makes those wait who guess passwords. It counts failures of a user at an address, of an address, and of a user:
// who guesses from one address is stopped early, and who guesses from many slows a user down. Who asks often enough from
// many takes all turns of a user, so browsers in which that user has logged in before are counted apart: nobody else's
// guesses have them wait. All those of a user are also counted together, so that many that were stolen are worth no more
// than addresses.
type backoff struct {
	mu      sync.Mutex
	entries map[string]*failures
	swept   time.Time
}

type failures struct {
	count int
	until time.Time // no try before that
	last  time.Time
}

// rule says how many failures are free, and how long one waits at most after more.
type rule struct {
	free int
	most time.Duration
}

var (
	ofBoth    = rule{5, 15 * time.Minute}
	ofAddress = rule{20, 15 * time.Minute}
	ofUser    = rule{50, 10 * time.Second}
)

const (
	mostFailures  = 20_000
	forgetFailure = time.Hour
)

func newBackoff() *backoff { return &backoff{entries: make(map[string]*failures)} }

// network is the address, or of IPv6 the network that one customer has.
func network(a netip.Addr) string {
	if a = a.Unmap(); a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// keysOf returns what a try counts for. device is the browser in which the user has logged in before; empty is any other.
func keysOf(user string, from netip.Addr, device string) map[string]rule {
	if len(user) > maxName {
		user = user[:maxName]
	}
	if device != "" {
		return map[string]rule{"d\x00" + user + "\x00" + device: ofBoth, "k\x00" + user: ofUser}
	}
	where := network(from)
	return map[string]rule{"b\x00" + user + "\x00" + where: ofBoth, "a\x00" + where: ofAddress, "u\x00" + user: ofUser}
}

// wait returns how long a user at an address, or in a browser of theirs, has to wait. If not at all, the try counts as a
// failure until it succeeds, so that many tries at once are not free.
func (b *backoff) wait(user string, from netip.Addr, device string, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys := keysOf(user, from, device)
	for key := range keys {
		if f := b.entries[key]; f != nil {
			wait = max(wait, f.until.Sub(now))
		}
	}
	if wait > 0 {
		return wait
	}
	b.makeRoom(now)
	for key, rule := range keys {
		f := b.entries[key]
		if f == nil || now.Sub(f.last) > forgetFailure {
			f = &failures{}
			b.entries[key] = f
		}
		f.count++
		f.last = now
		if over := f.count - rule.free; over > 0 {
			f.until = now.Add(min(rule.most, time.Second<<min(over-1, 20)))
		}
	}
	return 0
}

// succeeded forgets the failures of a user at an address, or in a browser of theirs, and the one that wait counted of the
// others.
func (b *backoff) succeeded(user string, from netip.Addr, device string) {
	b.takeBack(user, from, device, func(f *failures, rule rule) {
		f.until = time.Time{}
		if rule == ofBoth {
			f.count = 0
		}
	})
}

// giveBack takes back the failure that wait counted at a time, for a try that came to nothing.
func (b *backoff) giveBack(user string, from netip.Addr, device string, at time.Time) {
	b.takeBack(user, from, device, func(f *failures, rule rule) {
		if f.count <= rule.free || f.last.Equal(at) { // no other try has to be waited for
			f.until = time.Time{}
		}
	})
}

// takeBack takes back the failure that wait counted, and forgets those of whom none are left when then has seen them.
func (b *backoff) takeBack(user string, from netip.Addr, device string, then func(f *failures, rule rule)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, rule := range keysOf(user, from, device) {
		f := b.entries[key]
		if f == nil {
			continue
		}
		f.count--
		if then(f, rule); f.count <= 0 {
			delete(b.entries, key)
		}
	}
}

// makeRoom drops what is old and, if there is still too much, whatever was last heard of the longest ago.
func (b *backoff) makeRoom(now time.Time) {
	if len(b.entries) < mostFailures {
		return
	}
	if now.Sub(b.swept) > time.Minute { // not for each try of who makes up names
		b.swept = now
		for key, f := range b.entries {
			if now.Sub(f.last) > forgetFailure {
				delete(b.entries, key)
			}
		}
	}
	for len(b.entries) >= mostFailures {
		oldest, at := "", time.Time{}
		seen := 0
		for key, f := range b.entries { // of some, as maps come in any order
			if oldest == "" || f.last.Before(at) { // whatever the clock says, one goes
				oldest, at = key, f.last
			}
			if seen++; seen == 64 {
				break
			}
		}
		delete(b.entries, oldest)
	}
}
