// Package executions is the room of what runs in this process: from a begin that the registry has confirmed to the
// commit of its end. It bounds how many items run at once, calls their code and asks it to end, calls
// listeners and error handlers, and proposes the records of ends. T5, T5b and T10 in its comments are transactions of
// docs/protocol.md.
//
// # The states of an Execution
//
// Each follows the one above it. One that need not wait for anything passes on at once.
//
//	waits for its fire  package rounds has it (headstart.go there); it belongs to no round yet
//	waits for its turn  RunRound has queued it: at most so many run at once (executor.go)
//	waits to be called  started: its turn has come. Listeners of its round are told first, and with a listener for the whole
//	                    round it waits at a gate until [Executions.Opened]; only then is its start reported
//	runs                its code is called. yields: it was told to come to an end. InCode is true of this state and the last
//	has returned        returned: its code has, or it was taken back or given up. Its end waits to be committed
//	is looked into      refusal: the registry has refused the end, and what that was about is read (refusedend.go)
//	is over             its end is recorded, or refused for good: it is reported and forgotten (reportend.go)
//
// # How an Execution ends
//
// Whatever has a mark ends by a record, also if its code was never called: without one, others would take it for lost. If the
// job is not monitored there is no mark, and the end is only reported.
//
//	what            where from, and by which function               what its record says
//	it returns      runs; execute hears it                          success, failure; interrupted if cut short or made room
//	taken back      as its begin is confirmed; Rounds.began         not started
//	taken back      waits for its fire; TakeBack                    not started; nobody hears of it (ahead)
//	taken back      waits for its turn; StartWaiting, undoMoved     not started
//	given back      waits to be called, at a gate; GiveBack         not started
//	given up        waits for its turn, and its session is over;    not started, unless nobody would run it then and failover
//	                giveUp                                          does: interrupted
//	its round fails waits for its turn; failRound                   failure; if its turn had come, it is cancelled, and returns
//	abandoned       any; Abandon                                    interrupted if its turn had come, else as one given up
//
// What has not started is as if it had never begun (Undo): its fire, its request or its claim stays due, for whoever has the
// item. An execution returns once: what its code says after it was abandoned changes nothing.
//
// # Files
//
//	executions.go   the room, and what it asks of others
//	round.go, scope.go, listeners.go
//	                what executions that began together share: the report, the context, the listeners
//	executor.go     who waits for a turn, and who is taken back before it has come
//	execution.go, attempts.go
//	                one execution: how its code is called, and called again
//	progress.go     what code is offered while it runs: the checkpoint, and whether it should yield
//	yield.go, taken.go
//	                what running code is told: to come to an end, or that others run its item by now
//	rest.go         what becomes of work that is left by code that made room
//	recordend.go, end.go
//	                when an end is proposed, and its transaction
//	refusedend.go   an end that the registry refused, and whether it was done all the same
//	reportend.go, failures.go
//	                who hears of an end
//	hold.go         marks what runs anew after somebody has deleted the job's tree
package executions
