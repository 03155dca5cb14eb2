package etcd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// oldest is the first version of etcd that says in the right order how far a watch is. Older ones may
// let that overtake the changes before it, and a view would then leave these out.
var oldest = version{3, 5, 8}

type version [3]int

// checkVersion refuses servers that are too old. A version that it cannot read is let pass.
func checkVersion(text string) error {
	var v version
	core, _, _ := strings.Cut(text, "-")
	for i, part := range strings.SplitN(core, ".", len(v)) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		v[i] = n
	}
	if slices.Compare(v[:], oldest[:]) < 0 {
		return fmt.Errorf("%w: etcd %s, want %d.%d.%d or later", registry.ErrUnsupported, text, oldest[0], oldest[1], oldest[2])
	}
	return nil
}
