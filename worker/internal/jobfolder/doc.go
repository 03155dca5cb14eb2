// Package jobfolder makes the jobs of the registry as the files of a folder have them, and goes on doing so. Package
// operate/jobfile applies a file once.
//
// The folder counts as a whole: if anything is wrong in one of its files, nothing changes. Files count, also at the
// start, when they have looked the same twice, a second apart, so that none is read while it is written. If they have not for
// half a minute, [State] has a note. Every half minute all of it is compared with the registry, which puts right what
// somebody has changed there.
//
// Several workers may have the folder, in versions that differ; package operate decides which one counts.
package jobfolder
