package job

import "errors"

// ErrTimeout is the cause with which the context of an item ends when its attempt took longer than
// [Config.Timeout].
var ErrTimeout = errors.New("item timed out")
