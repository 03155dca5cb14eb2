// Package following decides what a process follows of a job's tree: all of it, or its own items and what belongs to no
// item.
//
// An execution writes some four nodes of its item. If each of P processes follows all items, each execution costs the
// store and the processes 4 P events; if each follows its own, it costs the same however many processes there are. So
// a process whose own items are a small part of a large job follows those alone, once nothing has moved for a while.
//
// # Who needs whose items
//
// An instance's own items are those that it owns, that run here, or that missed fires which are still to be noted here.
// Package rounds, with its parts, goes by these and no others. Everything below is about the items of others.
//
//   - The leader needs all: lost executions (package lost), assignments, tidying and reconciling (package leadership), stray
//     nodes and remains (package mending). It follows all, and nobody leads before it does: an election waits until all
//     is followed again.
//   - The oldest instance needs all records: it vouches for fires that others missed (package missed). It follows all. So
//     that it is one with the leader, it stands for election before the others ([room.View.HoldBack]).
//   - Any instance needs an item that comes to it, from before it is its own: its record, what is noted of it, whether it
//     is disabled. No item comes without a change of what belongs to no item: epoch, instances, necessary, configuration,
//     servers, leader. Each of them makes all instances follow everything again. Until an instance does, it does not
//     treat an item that it does not follow as its own, whoever owns it ([room.View.Owns]).
//   - Whether the assignment is settled ([room.View.Settled]) depends on the owners of all items. A narrowed state keeps
//     them as they were; they change with the epoch alone.
//   - What an item missed while it was disabled is not made up (package missed), so all need to know which items are.
//     Operators who disable an item write that down in a node that belongs to no item, which makes all instances follow
//     everything again. Who disables or enables an item with a tool of the store does not: if its owner is lost before it
//     has run again, a fire that came meanwhile may be made up by the wrong of the two, or not at all.
//   - A request by the values of instance nodes is kept for items of others, too (package requests): such a value makes
//     all follow everything, for as long as it is there.
//   - Hooks for whole rounds (package wholeround), and instances of another kind (package peers), need all items always:
//     such jobs are followed as a whole.
//   - Marks of this session on an item that is another's (package mending) must be answered for. They are among the own
//     items when the state is narrowed, and a narrowed instance begins nothing but its own. A new session, and every
//     refusal that no conflict explains, makes it look at everything again.
//   - What a process is asked: a request to run items, its wait and statistics read the job when they are asked, or follow it
//     while they last. A dump shows what is followed. Health tells of the items that are followed, and that these are not
//     all; the leader's tells of all.
//
// So package rounds sees all that it goes by, and no later than if everything were followed. To follow more or less, an
// instance opens another view and goes on where the old one ended. Between the two it sees nothing new, as with a slow
// store, and every transaction is guarded by what it went by.
package following
