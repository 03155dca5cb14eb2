package databases

import (
	"testing"

	"github.com/elasticron/elasticron/integration/debian"
)

// Need makes sure that a server of this kind can be started here. Where it cannot, the test is skipped
// with what is missing, or fails in CI.
func Need(tb testing.TB, k *Kind) {
	tb.Helper()
	debian.NeedAll(tb, k.pkg, k.Name, k.missing)
}
