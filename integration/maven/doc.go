// Package maven brings jars from Maven Central to tests that talk to Java programs.
//
// A pom names what is needed, each version pinned. [Jars] has Maven copy the jars, with all that they
// depend on, into the user's cache folder, once for each content of the pom: a lock keeps processes
// that want the same jars from fetching them twice, and the folder is renamed into place when it is
// whole, so nobody sees half of one. [Build] does the same for a project of ours, with its own jar.
// Nothing needs root, and a later run needs no network.
//
// What it asks of a machine is a JDK 17 or newer and Maven on the PATH. [Need] is what a test calls
// first: without them, outside CI, it says what is missing and skips; in CI, which is where the
// environment variable CI is set, the test fails.
package maven
