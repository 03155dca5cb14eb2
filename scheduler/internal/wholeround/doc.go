// Package wholeround is the room of a job with a [job.WholeRoundListener]: it knows which rounds of the whole job are
// under way, what their barriers wait for, which hooks run here, and which executions wait for one. Everything
// follows from the job's tree: nobody asks anybody, and nobody looks at intervals. Package barrier says what may be
// done to a barrier.
package wholeround
