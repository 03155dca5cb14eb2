package memory_test

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/registry/registrytest"
)

func BenchmarkRegistry(b *testing.B) { registrytest.Bench(b, description(5*time.Second)) }
