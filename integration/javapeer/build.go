package javapeer

import (
	"context"
	"embed"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/elasticron/elasticron/integration/maven"
)

// Release is a release of the library that a Java process uses.
type Release struct {
	name   string
	folder string // of the project
	jars   func() (string, error)
}

// The releases that tests have. Each is the last of its line on Maven Central.
var (
	// Lite2 is Elastic-Job-Lite 2.1.5.
	Lite2 = newRelease("Elastic-Job-Lite 2.1.5", "lite2")
	// ElasticJob3 is ElasticJob 3.0.4.
	ElasticJob3 = newRelease("ElasticJob 3.0.4", "elasticjob3")
)

//go:embed shared lite2 elasticjob3
var projects embed.FS

// newRelease returns a release whose project is built once.
func newRelease(name, folder string) *Release {
	return &Release{name: name, folder: folder, jars: sync.OnceValues(func() (string, error) {
		own, err := fs.Sub(projects, folder)
		if err != nil {
			return "", err
		}
		shared, err := fs.Sub(projects, "shared")
		if err != nil {
			return "", err
		}
		return maven.Build(context.Background(), "javapeer-"+folder, own, shared)
	})}
}

// String returns the release as people name it.
func (r *Release) String() string { return r.name }

// Need skips the test where Java instances of 2.1.5 cannot be had, with the reason, and fails it there in CI.
func Need(tb testing.TB) {
	tb.Helper()
	Lite2.Need(tb)
}

// Need skips the test where Java instances of this release cannot be had, with the reason, and fails it there in CI.
func (r *Release) Need(tb testing.TB) {
	tb.Helper()
	maven.Need(tb)
	_, err := r.jars()
	switch {
	case err == nil:
	case maven.CI():
		tb.Fatalf("NEEDED: %s: %v", r, err)
	default:
		tb.Skipf("NEEDED: %s, from Maven Central: %v", r, err)
	}
}

// command returns what runs a peer. Its heap is small, since tests run many, and its compiler quick, since they live short,
// unless the whole one is asked for.
func command(jars string, o options) []string {
	java := []string{"java", "-Xmx64m", "-XX:TieredStopAtLevel=1"}
	if o.whole {
		java = []string{"java", "-Xmx256m"}
	}
	return append(java, "-XX:+UseSerialGC", "-Xshare:auto", "-Duser.timezone=UTC",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-cp", filepath.Join(jars, "*"), "io.github.elasticron.javapeer.Main", o.ip,
	)
}
