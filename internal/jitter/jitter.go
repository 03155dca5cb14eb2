// Package jitter says by how much each fire of a job is delayed. It is a rule and nothing else: the clock that ticks fires
// and the policy for those that were missed go by the same one.
package jitter

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/elasticron/elasticron/job"
)

// Jitter delays fires by up to a bound, each by an amount that the job's name and the fire decide: the
// same in every process, so that an item which moves meanwhile begins when it would have anyway. The
// zero Jitter delays nothing.
type Jitter struct {
	Job  string
	Most time.Duration
}

// For returns the jitter of a job.
func For(c job.Config) Jitter { return Jitter{Job: c.Name, Most: c.Jitter} }

// Of returns by how much a fire is delayed, in whole milliseconds.
func (j Jitter) Of(fire time.Time) time.Duration {
	if j.Most == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(j.Job))
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(fire.UnixMilli())))
	return time.Duration(mix(h.Sum64())%uint64(j.Most/time.Millisecond+1)) * time.Millisecond
}

// mix spreads what differs in few bits, as the hashes of fires a second apart do, over all of them.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}
