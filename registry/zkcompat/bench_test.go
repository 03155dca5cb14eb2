package zkcompat_test

import (
	"testing"

	"github.com/elasticron/elasticron/registry/registrytest"
)

func BenchmarkBackend(b *testing.B) { registrytest.Bench(b, description()) }
