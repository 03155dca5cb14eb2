// Package asking asks an application's code what it makes of something, such as a configuration, and does not wait
// for it longer than it may take: code that hangs holds up nothing but itself.
package asking
