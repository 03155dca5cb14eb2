package javapeer

import (
	"context"
	"embed"
	"path/filepath"
	"sync"
	"testing"

	"github.com/elasticron/elasticron/integration/maven"
)

//go:embed pom.xml src
var project embed.FS

// jars builds the project, once.
var jars = sync.OnceValues(func() (string, error) {
	return maven.Build(context.Background(), "javapeer", project)
})

// Need skips the test where Java instances cannot be had, with the reason, and fails it there in CI.
func Need(tb testing.TB) {
	tb.Helper()
	maven.Need(tb)
	_, err := jars()
	switch {
	case err == nil:
	case maven.CI():
		tb.Fatalf("NEEDED: Elastic-Job-Lite 2.1.5: %v", err)
	default:
		tb.Skipf("NEEDED: Elastic-Job-Lite 2.1.5, from Maven Central: %v", err)
	}
}

// command returns what runs a peer. Its heap is small, since tests run many, and its compiler quick,
// since they live short.
func command(jars, ip string) []string {
	return []string{
		"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Duser.timezone=UTC",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-cp", filepath.Join(jars, "*"), "io.github.elasticron.javapeer.Main", ip,
	}
}
