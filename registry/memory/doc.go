// Package memory is a registry inside the process, for tests and simulations. It keeps everything
// that the registry package promises, and lets a test break what a network, a store and a machine
// can break.
//
// # How to use it
//
// A [Server] stands for the store, and [Server.Open] gives each simulated process its own handle
// with its own session:
//
//	server := memory.NewServer()
//	one := server.Open("shop")
//	two := server.Open("shop", memory.WithTTL(3*time.Second))
//	defer one.Close(ctx)
//
// # Time
//
// Only package time is used, no lock is held while anything waits, and every goroutine ends with its
// handle. So whole clusters run in a testing/synctest bubble, hours in milliseconds; close or
// [Registry.Vanish] every handle before the bubble ends. A handle has two goroutines, whatever the
// number of its views.
//
// # Faults
//
//   - [Registry.Cut] and [Registry.Heal]: the network between this handle and the store hangs.
//   - [Registry.Pause] and [Registry.Resume]: the process stands still, its clock does not.
//   - [Registry.Expire]: the store drops the session, and does not say so.
//   - [Registry.LoseAnswers]: commits are done and their answers lost.
//   - [Registry.HoldBack] and [Registry.DuplicateLater]: commits, or copies of them, arrive late.
//   - [Registry.Calm]: the requests from now on meet none of these three.
//   - [Registry.Vanish]: the process dies without a farewell.
//   - [Registry.BreakWatch], [Server.Compact]: the store cannot say what changed since.
//   - [Server.Stop] and [Server.Start]: the store is restarted; sessions start a fresh TTL.
//   - [Server.SetPace]: the store takes only so many transactions a second, and time for each.
//   - [Server.SetFull]: the store refuses puts for want of space.
//   - [Server.SetClockSkew], [Registry.SetLatency]: clocks differ, answers take time.
//
// # What it does not do
//
// It stores nothing beyond the life of the process and offers no connection to another one. It does
// not merge commits that meet by chance; transactions of one CommitAll share requests as they would
// on etcd, so that requests can be counted: see [Registry.Stats].
package memory
