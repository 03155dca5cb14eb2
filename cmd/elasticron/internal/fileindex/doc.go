// Package fileindex counts the files of a tree, as a whole or one sharding item's share of it.
//
// # What it guarantees
//
// Every regular file of a tree belongs to exactly one of n items, and to the same one in every
// process: the item is a function of the file's path. So the shares of items 0..n-1 add up to the
// tree. [Sum] makes that checkable: two sums are equal if they cover the same files with the same
// contents, each as often, whatever the order in which they were added up.
//
// # How to use it
//
// [Count] looks at the whole tree and says what every share must be. [Share] counts the share of
// one item, without knowing of the others.
//
// # What it does not do
//
// It follows no symbolic links and remembers nothing: every call walks the tree and reads the files
// that it counts. A tree that changes while it is counted gives what was found on the way.
package fileindex
