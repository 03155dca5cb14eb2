package worker

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Duration is a time.Duration that is written as a text such as 90s.
type Duration time.Duration

// UnmarshalYAML reads the text.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	value, err := time.ParseDuration(n.Value)
	if err != nil {
		return err
	}
	*d = Duration(value)
	return nil
}

var errSize = errors.New("no number of bytes")

// Size is a number of bytes, which is written as a number or with K, M or G behind it.
type Size int64

// UnmarshalYAML reads the number.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	digits, factor := n.Value, int64(1)
	if end := len(digits) - 1; end > 0 {
		if at := strings.IndexByte("KMG", digits[end]); at >= 0 {
			digits, factor = digits[:end], int64(1)<<(10*(at+1))
		}
	}
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || value < 0 || value > math.MaxInt64/factor {
		return errSize
	}
	*s = Size(value * factor)
	return nil
}
