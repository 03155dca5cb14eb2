package worker

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/job/httpjob/callback"
	"github.com/elasticron/elasticron/worker/internal/allow"
	"github.com/elasticron/elasticron/worker/internal/output"
)

// calls are what HTTP jobs may call, and how that is signed, as the file has it now.
type calls struct{ now atomic.Pointer[callRules] }

type callRules struct {
	allow  allow.Addresses
	signer *callback.Signer // nil signs nothing
	keep   int              // bytes of the beginning and of the end of what a run is answered
}

var _ httpjob.Guard = (*calls)(nil)

// callCode is the code of HTTP jobs.
type callCode struct {
	httpjob.Job
	secrets []string // patterns of references
}

// Configure refuses settings that refer to what is not on the list: whoever can write to the registry could have any file
// of this machine sent somewhere.
func (c callCode) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if err := refusedReferences(cfg, "", c.secrets); err != nil {
		return nil, err
	}
	return c.Job.Configure(cfg)
}

// refusedReferences tells of the props below a prefix that refer to what no pattern of secrets allows.
func refusedReferences(cfg job.Config, prefix string, secrets []string) error {
	var faults []error
	reason := "must be a reference that http.secrets of this worker allows: " + strings.Join(secrets, ", ")
	if len(secrets) == 0 {
		reason = "must be a reference that http.secrets of this worker allows, which is not there and allows none"
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Props)) {
		if value := cfg.Props[name]; strings.HasPrefix(name, prefix) && reference.Is(value) && !mayRead(value, secrets) {
			faults = append(faults, &job.FieldError{Field: "Props " + name, Value: value, Reason: reason})
		}
	}
	return errors.Join(faults...)
}

func mayRead(from string, secrets []string) bool {
	if file, is := strings.CutPrefix(from, "file:"); is && path.Clean(file) != file {
		return false
	}
	return slices.ContainsFunc(secrets, func(pattern string) bool {
		ok, _ := path.Match(pattern, from)
		return ok
	})
}

// output keeps what a run is answered until its end. heard may be nil: nobody hears of it.
func (c *calls) output(heard hearing) func(job.ShardingContext) io.Writer {
	if heard == nil {
		return nil
	}
	return func(sc job.ShardingContext) io.Writer {
		return &answers{Ends: output.NewEnds(c.now.Load().keep), sc: sc, heard: heard}
	}
}

// answers are those of one run.
type answers struct {
	*output.Ends
	sc    job.ShardingContext
	heard hearing
}

// Close tells of them, also if there are none, as of a call that is refused.
func (a *answers) Close() error {
	a.heard(a.sc, a.Ends)
	return nil
}

// rulesOf reads the keys.
func rulesOf(h HTTP) (*callRules, error) {
	var networks []netip.Prefix
	for _, text := range h.Networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		networks = append(networks, network.Masked())
	}
	list, err := allow.NewAddresses(h.Allow, networks)
	if err != nil || len(h.Sign.Keys) == 0 {
		return &callRules{allow: list, keep: int(h.Output)}, err
	}
	var keys [][]byte
	var faults []error
	for _, from := range h.Sign.Keys {
		key, err := reference.Resolve(from)
		if err != nil {
			faults = append(faults, &FieldError{Field: "http.sign.keys", Value: from, Reason: "must name a variable or a file that this process can read", Err: err})
		}
		keys = append(keys, []byte(key))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	signer, err := callback.NewSigner(keys)
	if err != nil {
		return nil, fmt.Errorf("http.sign.keys: %w", err)
	}
	return &callRules{list, signer, int(h.Output)}, nil
}

func (c *calls) Allow(address *url.URL) error { return c.now.Load().allow.Allow(address) }

func (c *calls) Dial(network, address string, conn syscall.RawConn) error {
	return c.now.Load().allow.Dial(network, address, conn)
}

func (c *calls) sign(req *http.Request, body []byte, at time.Time) {
	if signer := c.now.Load().signer; signer != nil {
		signer.Sign(req, body, at)
	}
}
