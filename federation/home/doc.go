// Package home says in which registry of a federation a job is, and moves it to another one.
//
// A federation is several registries, such as etcd clusters, over which jobs are spread. Each job has one home: the registry
// that has its configuration, and with it everything else of the job. The registries know each other by names, which all
// processes and operators must use alike. One of them is the directory, the same for all.
//
// # What is stored
//
// Where a job is stands in the job's own config node, in every registry that needs to know:
//
//	in its home              the configuration
//	in the directory, and    {"home":"b"}, in place of a configuration
//	where the job has been
//	elsewhere                nothing
//
// A node that says where the job is can be used for nothing else. Everything that a scheduler does about a job (begin,
// claim, lead, assign, ask for a run) is guarded by the configuration that it has read, and whoever creates a job wants
// the node to be absent. So such a node keeps a process that has slept through a move from doing anything in the
// former home, for ever.
//
// # Who decides
//
// A rule maps the name of a job to a registry. It decides once, when a job is declared that no registry knows: then the
// directory's node is created, under the condition that it is absent ([Directory.Claim]). Of several processes with
// different rules one wins, and the others follow it. From then on the node counts and not the rule; a rule that is
// changed moves nothing by itself. A job that was there before the federation is where it was found.
//
// To find a job, [Directory.Find] begins at the directory and goes from node to node; each says the truth about its own
// registry, namely that the job is not there any more. If the directory is away, a job that exists is still found where it
// is. Only a job that is nowhere cannot be told from one in a registry that is away, so to create a job all registries
// must answer.
//
// # How a job moves
//
// [Directory.Move] takes a job from home A to home B in steps, each one guarded transaction or several that can be repeated:
//
//	stop     A  the job is disabled, with a note that it moves to B; what runs ends by itself
//	close    A  when nothing runs, the configuration gives way to {"home":"b"}, which quotes it
//	keep   B A  the place in B is kept by {"home":"a","arriving":true}, and A notes the revision of that: once
//	            B has another one, the job has arrived, whatever becomes of it there
//	copy     B  records, missed fires, checkpoints, marks and the rest are copied and last, in one
//	            transaction, the configuration and where fencing tokens start
//	tell        the directory's node is changed to B
//	clean    A  what is left of the job is deleted; {"home":"b"} stays
//
// Until it is closed, a move can be called off: enable the job. From then on it can only be completed. Whoever dies on the
// way leaves a job that runs nowhere, and anybody can go on with the same call: what has been done is not done twice. Two
// who move a job to the same registry help each other; of two targets, the one of the first note counts, and the other
// call is refused. A mover that sleeps for an hour between two steps finds a condition of its next one false.
//
// Fires that come while the job stands are noted as missed, and made up as the job's misfire policy says. An execution that
// was lost goes on waiting, and is run again in B. Fencing tokens go on above all that A can have granted.
//
// # What it does not do
//
// An unmonitored job leaves no marks, so nobody sees whether it still runs; its move waits until no instance of it is left in
// A. A registry that holds a job of the same name that was created there by hand, past the federation, is an
// [ErrTwice]: both run. Registries in which Java instances may take part cannot be in a federation: these know nothing of
// homes.
package home
