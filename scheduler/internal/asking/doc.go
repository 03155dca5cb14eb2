// Package asking asks an application's code what it makes of something, such as a configuration, and does not wait
// for it longer than it may take: code that hangs holds up nothing but itself. Code that is slower than its questions
// come, so that each answer is one to what nobody asks any more, counts as code that does not answer.
package asking
