// Package memory is a registry inside the process, for tests and simulations. It keeps everything
// that package registry promises, and a test can break with it what a network, a store and a machine
// can break.
//
// # How to use it
//
// A [Server] stands for the store. [Server.Open] gives each simulated process its own handle, with its
// own session:
//
//	server := memory.NewServer()
//	one := server.Open("shop")
//	two := server.Open("shop", memory.WithTTL(3*time.Second))
//	defer one.Close(ctx)
//	defer two.Close(ctx)
//
// # Time
//
// The package uses only package time, holds no lock while anything waits, and ends every goroutine with
// its handle. So whole clusters run in a testing/synctest bubble, hours in milliseconds. Call Close or
// [Registry.Vanish] on every handle before the bubble ends. A handle has two goroutines, however many
// views it has.
//
// # Faults
//
//   - [Registry.Cut] and [Registry.Heal]: the network between this handle and the store hangs.
//   - [Registry.Pause] and [Registry.Resume]: the process stands still, but its clock goes on.
//   - [Registry.Expire]: the store drops the session, and does not say so.
//   - [Registry.LoseAnswers]: the store does commits, but their answers are lost.
//   - [Registry.HoldBack] and [Registry.DuplicateLater]: commits, or copies of them, arrive late.
//   - [Registry.Calm]: ends LoseAnswers, HoldBack and DuplicateLater for requests that are not sent yet.
//   - [Registry.Vanish]: the process dies without a farewell.
//   - [Registry.BreakWatch], [Server.Compact]: the store cannot say what has changed since.
//   - [Server.Stop] and [Server.Start]: the store is restarted; sessions start with a fresh TTL.
//   - [Server.SetPace]: the store takes only so many transactions a second, and needs time for each.
//   - [Server.SetFull]: the store refuses puts because it has no space.
//   - [Server.SetClockSkew], [Registry.SetLatency]: clocks differ, answers take time.
//
// # What it does not do
//
// It stores nothing beyond the life of the process, and no other process can connect to it. It does
// not merge commits that meet by chance. But the transactions of one CommitAll share requests as they
// would on etcd, so that a test can count requests: see [Registry.Stats].
package memory
