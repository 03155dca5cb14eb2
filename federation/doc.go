// Package federation runs one process's jobs over several registries, when there is more to run than one can carry.
//
// One etcd cluster carries some ten thousand monitored executions a second, and more members do not raise that: each
// execution is two transactions, and all of them pass one leader. Beyond that, spread jobs over several clusters. Each job
// has one of them as its home, and package scheduler runs it there as it would with one registry. A [Federation] holds a
// scheduler for each registry, brings each job to its home, follows it when it moves, and runs and stops them together.
//
//	f, err := federation.New("one", []federation.Registry{
//		{Name: "one", Open: func(ctx context.Context) (registry.Registry, error) { return etcd.Open(ctx, one) }},
//		{Name: "two", Open: func(ctx context.Context) (registry.Registry, error) { return etcd.Open(ctx, two) }},
//	})
//	_, err = f.Add(ctx, cfg, handler) // as that of a scheduler
//	err = f.Run(ctx)
//
// # Which registry
//
// A [Rule] names the registry of a job that is new; the default is [Rendezvous] hashing, which spreads jobs evenly. It
// decides once for each name. From then on the registries say where the job is, for every process and every operator, so
// processes with different rules, as during a deployment, cannot run a job in two registries; package
// federation/home has the protocol. A rule that changes, or a registry that is added, moves nothing. Move a job with
// [home.Directory.Move] or "elasticron move": it stands while it moves, its fires are made up as its misfire policy says,
// and its tokens, records and checkpoints go with it.
//
// The directory, the first argument of [New], is the registry where new jobs are decided upon. All processes must name
// the same one, and use the same names for the same registries. The registry that an application has had so far is a good
// directory: its jobs stay where they are.
//
// # When a registry is away
//
// The jobs of a registry that cannot be reached stand, as they would with it alone; all others go on. That is true also of
// a process that starts meanwhile: [Federation.Add] does not wait for a registry that is away, but brings the job there when
// it is back. What needs the others: a job that no registry knows is created only when all of them answer, because nobody
// can tell it from a job in one that does not; a job moves only between registries that answer; and both
// need the directory.
//
// # Health
//
// [Federation.Health] is one report over all registries, for package health. The process is ready while it has a session with
// any of its registries: a probe that acted on one that is away would take the jobs of the others with it. That and
// which jobs stand is what /cluster tells, and [Federation.Registries] tells by registry.
//
// # What it does not do
//
// Guarantees are those of package scheduler, job by job. Nothing spans registries: a job's items are all in one, and a job
// that is more than one registry carries must be split by its author.
//
// A job that has moved is run in its home by each process that has heard of the move and where nothing of the job runs any
// more. A process that its former home was cut off from before it heard goes on waiting for that registry; the others run
// the job.
//
// An unmonitored job leaves no marks, so its move waits only until no instance of it is left in its former home. Code that
// one of them began there may still run when the job begins in its new one.
package federation
