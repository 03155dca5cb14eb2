package etcd

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// oldest is the first version of etcd on which the guarantees rest. A leader that hangs for a while, most often on its disk,
// and that others have replaced meanwhile, ends leases there no more (etcd's issue 15247): a session that is kept alive
// would be over. One that stood still altogether, such as a virtual machine that was paused, may do so in every version:
// when it wakes, etcd does not check whether it still leads if its clock has ticked first. Nor does a watch miss what
// happened around a compaction (17555). Since 3.5.8, etcd says in the right order how far a watch is: before, that could
// overtake the changes before it, and a view would leave these out.
var oldest = version{3, 5, 13}

// advised is the first version that is not warned of: in those before, a watch may miss a deletion around a
// compaction (etcd's issues 18089 and 19179).
var advised = version{3, 5, 18}

// whyAdvised is what the warning says.
const whyAdvised = "around a compaction, a watch may miss that a node was deleted, and the process then goes by a node that is gone"

type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) before(w version) bool { return slices.Compare(v[:], w[:]) < 0 }

// parseVersion reads a version, without what comes after a dash. It is false if it cannot.
func parseVersion(text string) (v version, ok bool) {
	core, _, _ := strings.Cut(text, "-")
	for i, part := range strings.SplitN(core, ".", len(v)) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

// checkVersion refuses servers that are too old. A version that it cannot read is let pass.
func checkVersion(text string) error {
	if v, ok := parseVersion(text); ok && v.before(oldest) {
		return fmt.Errorf("%w: etcd %s, want %s or later", registry.ErrUnsupported, text, oldest)
	}
	return nil
}

// warnOfVersion tells if a server is not too old, but known to be at fault.
func warnOfVersion(log *slog.Logger, text string) {
	if v, ok := parseVersion(text); ok && v.before(advised) {
		log.Warn("etcd should be updated", slog.String("version", text), slog.String("advised", advised.String()), slog.String("reason", whyAdvised))
	}
}
