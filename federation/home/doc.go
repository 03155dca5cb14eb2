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
// the node to be absent. So such a node keeps a process that has slept through a move from beginning, claiming
// or leading anything in the former home, for ever. At most it registers there once more, until it has read the node.
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
//	close    A  when nothing runs and owners have noted what their items missed, for which they have two seconds,
//	            the configuration gives way to {"home":"b"}, which quotes it
//	keep   B A  the place in B is kept by {"home":"a","arriving":true}, and A notes the revision of that: once
//	            that node was written since, the job has arrived
//	copy     B  records, missed fires, checkpoints, marks and the rest are copied and last, in one
//	            transaction, the configuration and where fencing tokens start. What fits is copied with
//	            that; what does not comes before, in several, and nobody looks at it until then
//	tell        the directory's node is changed to B
//	clean    A  what is left of the job is deleted; {"home":"b"} stays
//
// Before it stops the job, and again before it closes it, a mover asks B and the directory to write what it will, in a
// transaction whose conditions cannot hold, and a dry run asks A, too: who may not write there, or a store that is full, is
// found while the job can stay. So is a store that does not take so much in one transaction: B a configuration or another node,
// or A what closes the job. And so is a job of which the mover cannot tell when it fires, as in a time zone that it does not
// know.
//
// Until it is closed, a move can be called off: enable the job. Its fires since the stop are then those of a job that was
// disabled, and are not made up. From then on it can only be completed. Whoever dies on the way leaves a job that runs
// nowhere, and anybody can go on with the same call: what has been done is not done twice. Two who move a job to the same
// registry help each other; of two targets, the one of the first note counts, and the other call is refused. A mover that
// sleeps for an hour between two steps finds a condition of its next one false.
//
// What items had missed goes with them. Only the owner knows of it as long as an item waits for its turn; one that does not
// hear of the stop, or whose note takes longer than those two seconds, keeps it for itself, and it is lost as by a crash.
//
// Fires that come while the job stands are noted as missed when it is copied, and made up as the job's misfire policy says; so
// are those of the ten seconds after the copy, unless they are seen in B. A mover that stood just before its last transaction,
// or whose machine slept, notes afterwards what came meanwhile, of each item that has not begun in B by then; if it dies before
// it has, that is lost. If it takes longer until a process has taken the job up there, what comes in between is lost, unless
// the job has a misfire window. Of an item that somebody disables while the job stands, none of these is noted.
//
// When the job was stopped and copied is told by the clock of A, and not by the mover's, which nobody checks. The processes'
// may be half a minute ahead of A's or behind, so the fires of half a minute before and after count as well, unless the item
// has run for them or for a later one. If the job was enabled or given its cron in the half minute before, or is disabled in
// the one after, fires of that time are made up that were none. If A tells no time, the mover's clock counts.
//
// That files of workers name the job does not go with it: files in B may be others. It is theirs once they name it, and until
// then nothing follows from their lack of it.
//
// A registry that is restored from a backup forgets its part of a move. If A does, and has the job again, that is where it is: the
// place in B counts for nothing. If B does, or the job was removed there before A was cleaned up, A keeps all of it, nothing
// proves that it has arrived, and nobody can tell these two apart: [Directory.Find] answers [ErrLost], nothing is deleted, and
// Move copies it once more if it is told to; see [MoveOptions]. An older copy that comes back in B, where the job had been before, is
// told from the job that has arrived by where its fencing tokens start, which it leaves behind when it goes on: below those of A. What
// A keeps is not deleted for it, and each move says that it is there, until that copy has been in a third registry and comes back to B:
// then nothing tells them apart any more.
//
// An execution that was lost goes on waiting, and is run again in B. Fencing tokens go on above all that A can have granted.
//
// Who disables the job while it is stopped finds it disabled in B. From its end in A on, operations refuse whatever is about
// the job in A, and in B until it has arrived there: no force writes over a node that says where the job is.
//
// # Names without a job
//
// A job that was removed keeps its home: there it is created again. Move gives such a name another one, with one transaction.
// If the job has been there, the word that it left behind is overruled by its revision:
//
//	B   {"home":"a","kept":1234}   a's word of revision 1234, {"home":"b"}, does not count any more
//
// Words can still come to name each other in a circle: whoever tells the directory where a job is may sleep before, until the
// job was moved to the directory and removed there. While they do, nothing runs and nothing can be created, so
// there is no job. [Directory.Find] answers [ErrLost]; [Directory.Claim] and Move delete one word, the same for all who do.
//
// # What it does not do
//
// An unmonitored job leaves no marks, so nobody sees whether it still runs; its move waits until no instance of it is left in
// A. An instance leaves when it is told to, whatever its process still does: end what must not overlap before. Its fires that
// come while it stands are not made up. Tokens of a job that was removed are not carried over: created again, in the same
// registry or another one, it begins with what that grants, which in another registry can be lower. So can the numbers of its
// states: there, and in the same registry if its predecessor had come from another one, do not ask again with the id and the
// state of an operation on its predecessor. It is refused only as long as that number is above those of the new states. If
// somebody creates a job by hand in a registry that is not its home, both jobs run, and [Directory.Find] answers [ErrTwice].
// Registries that Java instances share cannot be in a federation:
// Java knows nothing of homes.
package home
