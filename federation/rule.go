package federation

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
)

// Rule names the registry of a job that no registry knows yet. It is asked once for each declaration of such a job, and must
// be safe for concurrent use, fast, and depend on nothing but the configuration. One that panics is an error of the
// declaration.
type Rule func(cfg job.Config) (registry string)

// ask asks the rule, and waits for it while ctx lasts. The rule gets a map of its own: one that is left behind may still use
// it.
func (r Rule) ask(ctx context.Context, cfg job.Config) (string, error) {
	cfg.Props = maps.Clone(cfg.Props)
	registry := ""
	returned, err := protect.Within(ctx, func() error {
		registry = r(cfg)
		return nil
	})
	switch {
	case !returned:
		return "", fmt.Errorf("waiting for the rule that names a job's registry: %w", err)
	case err != nil:
		return "", fmt.Errorf("the rule that names a job's registry: %w", err)
	}
	return registry, nil
}

// Rendezvous spreads jobs evenly over registries, by rendezvous hashing (Thaler and Ravishankar, 1998) of the job's name:
// each registry gets a score for the job, and the highest wins. If a registry is added, only jobs that it wins are named
// another one; if one is taken away, only those that it had.
func Rendezvous(registries ...string) Rule {
	registries = slices.Sorted(slices.Values(registries))
	return func(cfg job.Config) string {
		best, most := "", uint64(0)
		for _, name := range registries {
			if s := score(name, cfg.Name); best == "" || s > most {
				best, most = name, s
			}
		}
		return best
	}
}

// score is the same in all processes and versions.
func score(registry, job string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(registry + "\x00" + job))
	// FNV mixes the last bytes badly into the high bits, by which scores are compared; this is the finalizer of
	// SplitMix64 (Steele, Lea and Flood, 2014).
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ByPrefix names the registry of the longest prefix that a job's name has; a whole name is one, too. otherwise is asked about
// the rest; a nil one names none, so that they are refused.
func ByPrefix(registries map[string]string, otherwise Rule) Rule {
	prefixes := make([]string, 0, len(registries))
	chosen := make(map[string]string, len(registries))
	for prefix, registry := range registries {
		prefixes = append(prefixes, prefix)
		chosen[prefix] = registry
	}
	slices.SortFunc(prefixes, func(a, b string) int { return len(b) - len(a) })
	return func(cfg job.Config) string {
		for _, prefix := range prefixes {
			if strings.HasPrefix(cfg.Name, prefix) {
				return chosen[prefix]
			}
		}
		if otherwise == nil {
			return ""
		}
		return otherwise(cfg)
	}
}
