package zkcompat_test

import (
	"testing"

	"github.com/elasticron/elasticron/registry/registrytest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	registrytest.Run(t, description())
}
