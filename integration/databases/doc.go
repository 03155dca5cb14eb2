// Package databases starts real database servers for tests.
//
// A server is a process of its own with a temporary folder and a free port of the loopback interface.
// A test kills it, and starts it again over the same data and port. It is stopped by its process id,
// and dies with the process of the test however that ends (on Linux).
//
//	server := databases.Start(t, databases.PostgreSQL)   // gone with the test
//	db := server.Open(t)                                 // a new, empty database
//
// The programs are those of the system: a PATH or a usual folder has them, and no service needs to
// run. Where they are missing, [Need] installs them from Debian's packages if it may: as root, when the
// environment variable CI is set or ELASTICRON_INSTALL is 1. Otherwise the test says what is missing
// and skips; in CI it fails. Several processes may call it at once: one installs, the others wait.
//
// Servers refuse to run as root, so there they run as the user nobody. They trust everybody who can
// connect, and speak UTF-8 and UTC.
package databases
