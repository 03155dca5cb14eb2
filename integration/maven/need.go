package maven

import (
	"os"
	"os/exec"
	"testing"
)

// programs are looked for on the PATH.
var programs = []string{"java", "javac", "mvn"}

// Missing tells which programs this machine lacks; nil if it lacks none.
func Missing() []string {
	var missing []string
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	return missing
}

// CI tells whether this is a run of continuous integration, where a test that cannot run has failed.
func CI() bool { return os.Getenv("CI") != "" }

// Need skips the test on a machine without a JDK or Maven, and fails it there in CI.
func Need(tb testing.TB) {
	tb.Helper()
	missing := Missing()
	switch {
	case len(missing) == 0:
	case CI():
		tb.Fatalf("NEEDED: %v on the PATH: this test runs Java programs, and in CI it must not be skipped", missing)
	default:
		tb.Skipf("NEEDED: %v on the PATH: this test runs Java programs. "+
			"Install a JDK 17 or newer and Maven (Debian: apt-get install default-jdk-headless maven)", missing)
	}
}
