package browser

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/debian"
)

// typescript is the checker: esbuild strips types and does not look at them.
const typescript = "typescript@7.0.2"

// The script of the pages is what TypeScript's checker takes it for.
func TestTypes(t *testing.T) {
	t.Parallel()
	npx := debian.Need(t, "npx", "npm")
	out, err := exec.CommandContext(t.Context(), npx, "--yes", "--package="+typescript, "tsc", "-p", "../web/src").CombinedOutput()
	require.NoError(t, err, "tsc:\n%s", out)
}
