package job

import "github.com/elasticron/elasticron/job/internal/reference"

// IsReference tells whether a text names the place of a value, as settings of [Config.Props] may: "env:NAME" or
// "file:/path".
func IsReference(text string) bool { return reference.Is(text) }

// Resolve returns the value that a reference names, looked up in this process. No error quotes the value.
func Resolve(text string) (string, error) { return reference.Resolve(text) }
