package memory

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// spread sets apart what happens in one instant, by [WithSpread]. The zero spread does not.
type spread uint64

// width is less than the latencies that simulations use, so that it only decides what they leave open.
const width = 1 << 16 // nanoseconds

// of returns for how long something is put off because of what it is about.
func (s spread) of(about string) time.Duration {
	if s == 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(about))
	// The multiplication lets the high bits depend on the whole text and on the seed.
	return 1 + time.Duration((h.Sum64()^uint64(s))*0x9e3779b97f4a7c15>>32)%width
}

// aboutTxns tells what a commit is about: the paths that it writes, in whichever order its transactions
// come.
func (s spread) aboutTxns(txns []registry.Txn) string {
	if s == 0 {
		return ""
	}
	var paths []string
	for _, txn := range txns {
		for _, w := range txn.Then {
			paths = append(paths, w.Path)
		}
	}
	slices.Sort(paths)
	return strings.Join(paths, " ")
}
